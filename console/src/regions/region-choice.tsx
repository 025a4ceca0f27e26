import { Form } from 'antd'
import { codesOf, RegionCascader, type RegionCodes, regionPath, useRegions } from './cascader.tsx'
import { useTexts } from './texts.ts'

interface RegionByNameProps {
  id?: string
  width?: number
  codes: RegionCodes
  onChange: (codes: RegionCodes) => void
}

interface RegionChoiceProps extends RegionByNameProps {
  id: string
}

/** Chooses the three codes of an address by the names of its divisions, beside fields that hold the codes. */
export function RegionChoice({ id, ...choice }: RegionChoiceProps) {
  const t = useTexts()
  return (
    <Form.Item label={t('division')} htmlFor={id}>
      <RegionByName id={id} {...choice} />
    </Form.Item>
  )
}

/** The choice alone. It shows only codes that the table has. */
export function RegionByName({ codes, onChange, ...field }: RegionByNameProps) {
  const given = [codes.provinceCode, codes.cityCode, codes.districtCode].map((code) => code.trim())
  const isWhole = given.every((code) => /^\d{6}$/.test(code))
  const { data = [] } = useRegions(isWhole)
  const isKnown = isWhole && regionPath(data, given).length === given.length
  return (
    <RegionCascader {...field} value={isKnown ? given : []} onChange={(_, regions) => onChange(codesOf(regions))} />
  )
}

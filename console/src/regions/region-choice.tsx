import { Form } from 'antd'
import { RegionCascader, type RegionCodes, regionPath, useRegions } from './cascader.tsx'
import { useTexts } from './texts.ts'

interface RegionChoiceProps {
  id: string
  codes: RegionCodes
  onChange: (codes: RegionCodes) => void
}

/** Chooses the three codes of an address by the names of its divisions, beside fields that hold the codes. */
export function RegionChoice({ id, codes, onChange }: RegionChoiceProps) {
  const t = useTexts()
  const given = [codes.provinceCode, codes.cityCode, codes.districtCode].map((code) => code.trim())
  const isWhole = given.every((code) => /^\d{6}$/.test(code))
  const { data = [] } = useRegions(isWhole)
  const isKnown = isWhole && regionPath(data, given).length === given.length
  return (
    <Form.Item label={t('division')} htmlFor={id}>
      <RegionCascader
        id={id}
        value={isKnown ? given : []}
        onChange={([provinceCode = '', cityCode = '', districtCode = '']) =>
          onChange({ provinceCode, cityCode, districtCode })
        }
      />
    </Form.Item>
  )
}

import { Form, type FormInstance } from 'antd'
import { lengths } from '../../../src/vocabulary/values.ts'
import { TextItem } from '../ui/form/text-item.tsx'
import { Button } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { byLevel, type Region, RegionCascader, regionPath, useRegions } from './cascader.tsx'
import { useTexts } from './texts.ts'

const levels = [
  ['provinceCode', 'provinceName'],
  ['cityCode', 'cityName'],
  ['districtCode', 'districtName'],
] as const

/** The six fields of an address that hold the codes and names of its divisions. */
export const regionFields = levels.flat()

interface RegionFieldsProps {
  form: FormInstance
  /** Undefined until the user chooses: then the fields are typed by hand only if the table lacks their values. */
  isByHand: boolean | undefined
  onByHand: (isByHand: boolean) => void
}

/** The divisions of an address: chosen from the table, or typed where the table lacks them. */
export function RegionFields({ form, isByHand, onByHand }: RegionFieldsProps) {
  const t = useTexts()
  const tree = useRegions()
  const given = Form.useWatch(watch, form) ?? []
  const codes = given.filter((_, index) => index % 2 === 0)
  const path = regionPath(tree.data ?? [], codes)
  const isKnown = path.length === 3 && path.every(({ name }, index) => name === given[index * 2 + 1])
  const isGiven = given.some((text) => text !== '')
  const isTyped =
    (tree.isError && tree.data === undefined) || (isByHand ?? (tree.data !== undefined && isGiven && !isKnown))

  function take(regions: Region[]): void {
    const chosen = byLevel(regions)
    levels.forEach(([code, name], index) => {
      const region = chosen[index]
      form.setFields([
        { name: code, value: region?.code ?? '', errors: [] },
        { name, value: region?.name ?? '', errors: [] },
      ])
    })
    // Some cities have no districts in the table.
    onByHand(regions.length > 0 && regions.length < 3)
  }

  return (
    <>
      <Form.Item
        name="division"
        label={t('division')}
        required
        hidden={isTyped}
        className="spaced-little"
        // The value is in the six fields; this one only shows it.
        getValueProps={() => ({ value: isKnown ? codes : [] })}
        rules={[{ validator: () => (isTyped || isKnown ? Promise.resolve() : Promise.reject(t('required'))) }]}
      >
        <RegionCascader onChange={(_, regions) => take(regions)} />
      </Form.Item>
      {isTyped && (
        <Why isFailed={tree.isError} isShort={path.length === 2 && codes[2] === ''} isUnknown={isGiven && !isKnown} />
      )}
      <div className="side-by-side" style={{ '--least': '320px' }} hidden={!isTyped}>
        {regionFields.map((field) => (
          <TextItem
            key={field}
            name={field}
            label={t(field)}
            most={field.endsWith('Code') ? lengths.divisionCode : lengths.name}
            isNeeded={isTyped}
          />
        ))}
      </div>
      {!tree.isError && (
        <Button type="link" className="bare spaced" onClick={() => onByHand(!isTyped)}>
          {isTyped ? t('fromTable') : t('byHand')}
        </Button>
      )}
    </>
  )
}

const watch = (values: Record<string, string | undefined>): string[] => regionFields.map((field) => values[field] ?? '')

/** Explains why codes and names are typed by hand. */
function Why({ isFailed, isShort, isUnknown }: { isFailed: boolean; isShort: boolean; isUnknown: boolean }) {
  const t = useTexts()
  if (isFailed) return <Note type="warning" words={t('tableFailed')} />
  if (isShort) return <Note type="info" words={t('noDistrict')} />
  if (isUnknown) return <Note type="info" words={t('notInTable')} />
  return null
}

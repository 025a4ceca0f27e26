import { Form, Input } from 'antd'
import { useMemo, useState } from 'react'
import { limits } from '../../../src/vocabulary/limits.ts'
import { type Draft, draftColumns, type FieldName, fieldNames, tidyPair } from '../imports/row-faults.ts'
import { readTable } from '../imports/table-text.ts'
import { paths } from '../paths.ts'
import { RegionChoice } from '../regions/region-choice.tsx'
import { useUnsaved } from '../ui/form/leaving.tsx'
import { Button } from '../ui/page/button.tsx'
import { LinkButton } from '../ui/page/link-button.tsx'
import { Note } from '../ui/page/note.tsx'
import { grouped } from '../ui/text/number.ts'
import { useTexts } from './several-texts.ts'
import { useFieldNames } from './texts.ts'

const commonFields = fieldNames.filter((name) => name !== 'deviceNo')

/** A row of the text, with defaults for its empty fields. */
function completed(row: Draft, byDefault: Draft): Draft {
  const entries = fieldNames.map((name): [FieldName, string] => [name, row[name] === '' ? byDefault[name] : row[name]])
  const draft = Object.fromEntries(entries) as Draft
  return {
    ...draft,
    deviceName: draft.deviceName.replaceAll('{deviceNo}', draft.deviceNo),
    coordinates: tidyPair(draft.coordinates),
  }
}

interface TextStepProps {
  appId: string
  text: string
  setText: (text: string) => void
  byDefault: Draft
  setByDefault: (draft: Draft) => void
  show: (drafts: Draft[]) => void
}

/** Asks for the rows as text, and for defaults of empty fields. */
export function TextStep({ appId, text, setText, byDefault, setByDefault, show }: TextStepProps) {
  const t = useTexts()
  const labels = useFieldNames()
  const { rows, ignored } = useMemo(() => readTable(text, draftColumns, 'coordinates'), [text])
  const [isEmpty, setEmpty] = useState(false)
  const isTooMuch = rows.length > limits.batchRows
  useUnsaved(() => text.trim() !== '')

  function go(): void {
    setEmpty(rows.length === 0)
    if (rows.length > 0 && !isTooMuch) show(rows.map((row) => completed(row, byDefault)))
  }

  return (
    <Form layout="vertical" onFinish={go}>
      <Form.Item
        label={t('devices')}
        htmlFor="several-text"
        extra={t('hint', { columns: fieldNames.slice(0, 6).join(', ') })}
        {...(isEmpty && { validateStatus: 'error', help: t('noRows') })}
      >
        <Input.TextArea
          id="several-text"
          className="mono"
          spellCheck={false}
          rows={12}
          placeholder={
            'deviceNo\tdeviceName\tdistrictCode\tcoordinates\nSN-0001\tEast gate\t360102\t115.899918,28.676493'
          }
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Form.Item>
      <div className="spaced">
        <LinkButton to={paths.newImport({ kind: 'devices', appId })}>{t('importFile')}</LinkButton>
      </div>
      {isTooMuch && (
        <Note type="error" words={t('tooMany', { count: grouped(rows.length), most: grouped(limits.batchRows) })} />
      )}
      {ignored.length > 0 && <Note type="warning" words={t('ignored', { columns: ignored.join(', ') })} />}
      <fieldset className="plain-fieldset">
        <legend style={{ fontWeight: 600, padding: 0, marginBottom: 8 }}>{t('forEmpty')}</legend>
        <RegionChoice
          id="several-region"
          codes={byDefault}
          onChange={(codes) => setByDefault({ ...byDefault, ...codes })}
        />
        <div className="side-by-side" style={{ '--least': '220px' }}>
          {commonFields.map((name) => (
            <Form.Item
              key={name}
              label={labels[name]}
              htmlFor={`several-${name}`}
              {...(name === 'deviceName' && { extra: t('namePattern') })}
            >
              <Input
                id={`several-${name}`}
                autoComplete="off"
                value={byDefault[name]}
                onChange={(event) => setByDefault({ ...byDefault, [name]: event.target.value })}
              />
            </Form.Item>
          ))}
        </div>
      </fieldset>
      <Button type="primary" htmlType="submit">
        {t('show')}
      </Button>
    </Form>
  )
}

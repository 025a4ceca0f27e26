import { Alert, Button, Form, type FormInstance } from 'antd'
import { useState } from 'react'
import type { ForecourtError } from '../../../src/sdk/client.ts'
import type { SiteRecord } from '../../../src/sites/contract.ts'
import { paths } from '../paths.ts'
import { RegionFields, regionFields } from '../regions/region-fields.tsx'
import { useTexts as useRegionTexts } from '../regions/texts.ts'
import { RefusalAlert } from '../ui/refusal.tsx'
import { useCommon } from '../ui/texts.ts'
import { CoordinatesField } from './coordinates-field.tsx'
import { readValues, type SiteValues, valuesOf } from './form-values.ts'
import { LinkButton } from './link-button.tsx'
import { GeneralFields, MoreFields, OpeningFields, PlaceFields, RuleFields } from './site-fields.tsx'
import { useFieldNames, useTexts } from './texts.ts'

interface SiteFormProps {
  appId: string
  form: FormInstance<SiteValues>
  site?: SiteRecord
  verb: string
  back: string
  /** Throws its refusal, which is shown. */
  run: (values: SiteValues) => Promise<void>
  onRefused: (error: ForecourtError) => unknown
  takeTheirs?: () => Promise<void>
}

/** The form of a site, of a new one or one that is changed: what it is refused is shown at its fields. */
export function SiteForm({ appId, form, site, verb, back, run, onRefused, takeTheirs }: SiteFormProps) {
  const common = useCommon()
  const fieldNames = useFieldNames()
  const [error, setError] = useState<ForecourtError>()
  const [isRunning, setRunning] = useState(false)
  const [isByHand, setByHand] = useState<boolean>()

  async function submit(): Promise<void> {
    if (isRunning) return
    setRunning(true)
    setError(undefined)
    try {
      await run(readValues(form.getFieldsValue(true)))
    } catch (refusal) {
      show(refusal as ForecourtError)
    } finally {
      setRunning(false)
    }
  }

  function show(refusal: ForecourtError): void {
    const faults = refusal.errors ?? []
    setError(refusal)
    onRefused(refusal)
    form.setFields(faults.map(({ field, reason }) => ({ name: field as keyof SiteValues, errors: [reason] })))
    // A fault must not stand where it cannot be seen.
    if (faults.some(({ field }) => (regionFields as string[]).includes(field))) setByHand(true)
    window.scrollTo({ top: 0 })
  }

  return (
    <Form<SiteValues>
      form={form}
      layout="vertical"
      initialValues={valuesOf(site)}
      scrollToFirstError={{ focus: true }}
      onFinish={() => void submit()}
    >
      <Refused
        error={error}
        appId={appId}
        fieldNames={fieldNames}
        takeTheirs={takeTheirs && (() => void takeTheirs().then(() => setError(undefined), setError))}
      />
      <GeneralFields />
      <OpeningFields form={form} />
      <PlaceFields>
        <RegionFields form={form} isByHand={isByHand} onByHand={setByHand} />
        <CoordinatesField form={form} />
      </PlaceFields>
      <RuleFields appId={appId} />
      <MoreFields />
      <div className="form-buttons">
        <Button type="primary" htmlType="submit" loading={isRunning}>
          {verb}
        </Button>
        <LinkButton to={back}>{common('cancel')}</LinkButton>
      </div>
    </Form>
  )
}

interface RefusedProps {
  error: ForecourtError | undefined
  appId: string
  fieldNames: Record<string, string>
  takeTheirs: (() => void) | undefined
}

/** A refusal, with what to do about it where that is known. */
function Refused({ error, appId, fieldNames, takeTheirs }: RefusedProps) {
  const t = useTexts()
  const common = useCommon()
  const region = useRegionTexts()
  if (error === undefined) return null
  const names = { ...fieldNames, ...Object.fromEntries(regionFields.map((field) => [field, region(field)])) }
  const style = { marginBottom: 16 }
  return (
    <>
      <RefusalAlert error={error} fieldNames={names} />
      {error.code === 30003 && (
        <Alert
          type="info"
          showIcon
          style={style}
          title={t('configMissing')}
          description={
            // In another tab, because what was typed here would be lost.
            <a href={paths.application(appId, 'callback')} target="_blank" rel="noreferrer">
              {t('configure')}
            </a>
          }
        />
      )}
      {error.code === 10009 && takeTheirs && (
        <Alert
          type="info"
          showIcon
          style={style}
          title={`${common('changedMeanwhile')} ${common('unsaved')}`}
          action={<Button onClick={takeTheirs}>{common('takeTheirs')}</Button>}
        />
      )}
    </>
  )
}

import type { FormInstance } from 'antd'
import { useState } from 'react'
import type { SiteRecord } from '../../../src/sites/contract.ts'
import { paths } from '../paths.ts'
import { RegionFields, regionFields } from '../regions/region-fields.tsx'
import { useTexts as useRegionTexts } from '../regions/texts.ts'
import { RecordForm, type RecordFormProps } from '../ui/form/record-form.tsx'
import { Note } from '../ui/page/note.tsx'
import { CoordinatesField } from './coordinates-field.tsx'
import { type SiteValues, valuesLike, valuesOf } from './form-values.ts'
import { GeneralFields, MoreFields, OpeningFields, PlaceFields, RuleFields } from './site-fields.tsx'
import { useFieldNames, useTexts } from './texts.ts'

type FrameProps = Pick<
  RecordFormProps<SiteValues, SiteRecord, SiteRecord>,
  'edited' | 'send' | 'successMessage' | 'onSaved' | 'back'
>
interface SiteFormProps extends FrameProps {
  /** A site that a new one is to be like. */
  like?: SiteRecord | undefined
  appId: string
  form: FormInstance<SiteValues>
}

/** The form of a new or existing site. */
export function SiteForm({ appId, form, like, ...frame }: SiteFormProps) {
  const t = useTexts()
  const region = useRegionTexts()
  const [isByHand, setByHand] = useState<boolean>()
  return (
    <RecordForm
      {...frame}
      form={form}
      valuesOf={(site) => (site === undefined && like !== undefined ? valuesLike(like) : valuesOf(site))}
      fieldNames={{ ...useFieldNames(), ...Object.fromEntries(regionFields.map((field) => [field, region(field)])) }}
      onRefused={({ errors }) => {
        // Opens the fields that hold the fault.
        if (errors.some(({ field }) => (regionFields as string[]).includes(field))) setByHand(true)
      }}
      advice={({ code }) =>
        code === 30003 && (
          <Note type="info" words={t('configMissing')}>
            {
              // In another tab, so that unsaved input is not lost.
              <a href={paths.application(appId, 'callback')} target="_blank" rel="noreferrer">
                {t('configure')}
              </a>
            }
          </Note>
        )
      }
    >
      <GeneralFields />
      <OpeningFields form={form} />
      <PlaceFields>
        <RegionFields form={form} isByHand={isByHand} onByHand={setByHand} />
        <CoordinatesField form={form} />
      </PlaceFields>
      <RuleFields appId={appId} />
      <MoreFields />
    </RecordForm>
  )
}

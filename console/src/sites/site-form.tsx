import { Form, type FormInstance } from 'antd'
import { type ReactNode, useState } from 'react'
import { type SiteRecord, siteLengths } from '../../../src/sites/contract.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { paths } from '../paths.ts'
import { ruleFields } from '../pricing/rule-fields.ts'
import { RulePicker } from '../pricing/rule-picker.tsx'
import { RegionFields, regionFields } from '../regions/region-fields.tsx'
import { useTexts as useRegionTexts } from '../regions/texts.ts'
import { RecordForm, type RecordFormProps } from '../ui/form/record-form.tsx'
import { TextItem } from '../ui/form/text-item.tsx'
import { Note } from '../ui/page/note.tsx'
import { Card } from '../ui/page/page.tsx'
import { CoordinatesField } from './coordinates-field.tsx'
import { fields, type SiteValues, valuesLike, valuesOf } from './form-values.ts'
import { closesNextDay } from './show.tsx'
import { useTexts } from './texts.ts'
import { ClosingTime, TimeOfDay } from './times.tsx'

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
      fieldNames={{
        ...Object.fromEntries(fields.map((field) => [field, t(field as 'siteName')])),
        ...Object.fromEntries(regionFields.map((field) => [field, region(field)])),
      }}
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

// The fields of a site's form, in groups.

function GeneralFields() {
  const t = useTexts()
  return (
    <Card title={t('site')}>
      <div className="side-by-side" style={{ '--least': '320px' }}>
        <TextItem name="siteName" label={t('siteName')} most={lengths.name} isNeeded />
        <TextItem name="contacts" label={t('contacts')} most={lengths.name} isNeeded />
        <TextItem name="contactsPhone" label={t('contactsPhone')} most={lengths.phone} type="tel" isNeeded />
        <TextItem
          name="customerServicePhone"
          label={t('customerServicePhone')}
          most={lengths.phone}
          type="tel"
          isNeeded
        />
      </div>
    </Card>
  )
}

function OpeningFields({ form }: { form: FormInstance<SiteValues> }) {
  const t = useTexts()
  const needed = [{ required: true, message: t('required') }]
  const opens = Form.useWatch('businessStartTime', form) ?? ''
  const closes = Form.useWatch('businessClosingTime', form) ?? ''
  return (
    <Card title={t('openingHours')}>
      <div className="side-by-side">
        <Form.Item name="businessStartTime" label={t('businessStartTime')} rules={needed}>
          <TimeOfDay />
        </Form.Item>
        <Form.Item
          name="businessClosingTime"
          label={t('businessClosingTime')}
          rules={needed}
          extra={
            <span role="status">
              {closesNextDay(opens, closes) ? t('closesNextDay', { time: closes }) : t('closingNote')}
            </span>
          }
        >
          <ClosingTime />
        </Form.Item>
        <TextItem
          name="businessWeekDay"
          label={t('businessWeekDay')}
          extra={t('weekDayNote')}
          most={siteLengths.businessWeekDay}
          isNeeded
        />
      </div>
    </Card>
  )
}

function PlaceFields({ children }: { children: ReactNode }) {
  const t = useTexts()
  return (
    <Card title={t('place')}>
      {children}
      <TextItem name="detailAddress" label={t('detailAddress')} most={lengths.address} />
    </Card>
  )
}

function RuleFields({ appId }: { appId: string }) {
  const t = useTexts()
  return (
    <Card title={t('billingRules')}>
      <div className="side-by-side">
        {ruleFields.map(({ field, ruleType }) => (
          <Form.Item
            key={field}
            name={field}
            label={t(field)}
            extra={
              // In another tab, so that unsaved input is not lost.
              <a href={paths.newBillingRule({ appId, ruleType })} target="_blank" rel="noreferrer">
                {t('newBillingRule')}
              </a>
            }
          >
            <RulePicker appId={appId} ruleType={ruleType} label={t(field)} />
          </Form.Item>
        ))}
      </div>
    </Card>
  )
}

function MoreFields() {
  const t = useTexts()
  return (
    <Card title={t('more')}>
      <TextItem
        name="sitePictureUrl"
        label={t('sitePictureUrl')}
        extra={t('pictureNote')}
        most={siteLengths.sitePictureUrl}
      />
      <TextItem name="ipcIds" label={t('ipcIds')} extra={t('ipcNote')} most={siteLengths.ipcIds} />
    </Card>
  )
}

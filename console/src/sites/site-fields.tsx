import { Form, type FormInstance } from 'antd'
import type { ReactNode } from 'react'
import { siteLengths } from '../../../src/sites/contract.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { useCommon } from '../language/index.ts'
import { paths } from '../paths.ts'
import { ruleFields } from '../pricing/rule-fields.ts'
import { RulePicker } from '../pricing/rule-picker.tsx'
import { LimitedInput } from '../ui/form/limited.tsx'
import type { SiteValues } from './form-values.ts'
import { closesNextDay } from './show.tsx'
import { useTexts } from './texts.ts'
import { ClosingTime, TimeOfDay } from './times.tsx'

// The fields of a site's form, in groups.

/** The form rule of a required text, which must not be only white space. */
function useNeeded() {
  const t = useCommon()
  return [{ required: true, whitespace: true, message: t('required') }]
}

export function GeneralFields() {
  const t = useTexts()
  const needed = useNeeded()
  return (
    <Group title={t('site')}>
      <div className="form-grid form-pairs">
        <Form.Item name="siteName" label={t('siteName')} rules={needed}>
          <LimitedInput most={lengths.name} autoComplete="off" />
        </Form.Item>
        <Form.Item name="contacts" label={t('contacts')} rules={needed}>
          <LimitedInput most={lengths.name} autoComplete="off" />
        </Form.Item>
        <Form.Item name="contactsPhone" label={t('contactsPhone')} rules={needed}>
          <LimitedInput most={lengths.phone} type="tel" autoComplete="off" />
        </Form.Item>
        <Form.Item name="customerServicePhone" label={t('customerServicePhone')} rules={needed}>
          <LimitedInput most={lengths.phone} type="tel" autoComplete="off" />
        </Form.Item>
      </div>
    </Group>
  )
}

export function OpeningFields({ form }: { form: FormInstance<SiteValues> }) {
  const t = useTexts()
  const needed = useNeeded()
  const opens = Form.useWatch('businessStartTime', form) ?? ''
  const closes = Form.useWatch('businessClosingTime', form) ?? ''
  return (
    <Group title={t('openingHours')}>
      <div className="form-grid">
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
        <Form.Item name="businessWeekDay" label={t('businessWeekDay')} rules={needed} extra={t('weekDayNote')}>
          <LimitedInput most={siteLengths.businessWeekDay} autoComplete="off" />
        </Form.Item>
      </div>
    </Group>
  )
}

export function PlaceFields({ children }: { children: ReactNode }) {
  const t = useTexts()
  return (
    <Group title={t('place')}>
      {children}
      <Form.Item name="detailAddress" label={t('detailAddress')}>
        <LimitedInput most={lengths.address} autoComplete="off" />
      </Form.Item>
    </Group>
  )
}

export function RuleFields({ appId }: { appId: string }) {
  const t = useTexts()
  return (
    <Group title={t('billingRules')}>
      <div className="form-grid">
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
    </Group>
  )
}

export function MoreFields() {
  const t = useTexts()
  return (
    <Group title={t('more')}>
      <Form.Item name="sitePictureUrl" label={t('sitePictureUrl')} extra={t('pictureNote')}>
        <LimitedInput most={siteLengths.sitePictureUrl} autoComplete="off" />
      </Form.Item>
      <Form.Item name="ipcIds" label={t('ipcIds')} extra={t('ipcNote')}>
        <LimitedInput most={siteLengths.ipcIds} autoComplete="off" />
      </Form.Item>
    </Group>
  )
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="card">
      <h2>{title}</h2>
      {children}
    </section>
  )
}

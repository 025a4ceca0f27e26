import { Form, type FormInstance } from 'antd'
import type { ReactNode } from 'react'
import { siteLengths } from '../../../src/sites/contract.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { paths } from '../paths.ts'
import { ruleFields } from '../pricing/rule-fields.ts'
import { RulePicker } from '../pricing/rule-picker.tsx'
import { TextItem } from '../ui/form/text-item.tsx'
import { Card } from '../ui/page/page.tsx'
import type { SiteValues } from './form-values.ts'
import { closesNextDay } from './show.tsx'
import { useTexts } from './texts.ts'
import { ClosingTime, TimeOfDay } from './times.tsx'

// The fields of a site's form, in groups.

export function GeneralFields() {
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

export function OpeningFields({ form }: { form: FormInstance<SiteValues> }) {
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

export function PlaceFields({ children }: { children: ReactNode }) {
  const t = useTexts()
  return (
    <Card title={t('place')}>
      {children}
      <TextItem name="detailAddress" label={t('detailAddress')} most={lengths.address} />
    </Card>
  )
}

export function RuleFields({ appId }: { appId: string }) {
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

export function MoreFields() {
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

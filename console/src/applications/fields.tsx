import { Checkbox, Form, Input, InputNumber } from 'antd'
import { useState } from 'react'
import {
  type ApplicationRecord,
  defaultRateLimitPerSecond,
  defaultTokenLifetimeSeconds,
  mostRateLimitPerSecond,
  mostTokenLifetimeSeconds,
} from '../../../src/applications/contract.ts'
import {
  operatorIdPattern,
  type ThirdPartyConfigRecord,
} from '../../../src/applications/third-party-config/contract.ts'
import { type EventType, eventTypes } from '../../../src/vocabulary/event-types.ts'
import { ManySelect } from '../ui/form/many-select.tsx'
import { useTypeWords } from '../words/type-words.ts'
import { durationWords, useTexts } from './texts.ts'

/** The values of an application's form. `rateLimitPerSecond` is null for no limit, and undefined while it is empty. */
export interface ApplicationValues {
  appName: string
  tokenLifetimeSeconds: number
  rateLimitPerSecond: number | null
}

/** The initial values of an application's form. */
export function applicationValues(application?: ApplicationRecord): ApplicationValues {
  return {
    appName: application?.appName ?? '',
    tokenLifetimeSeconds: application?.tokenLifetimeSeconds ?? defaultTokenLifetimeSeconds,
    rateLimitPerSecond: application === undefined ? defaultRateLimitPerSecond : application.rateLimitPerSecond,
  }
}

/** The values of a configuration's form. No events mean all of them. */
export interface ConfigValues {
  operatorName: string
  operatorId: string
  callbackUrl: string
  callbackEvents: EventType[]
}

/** What stands for the query of a callback's address, which can hold a key; sent back, it keeps the stored query. */
const hiddenQuery = '?…'

export const withoutQuery = (url: string) => url.replace(/\?.*$/su, hiddenQuery)

/**
 * The address as it is sent. An admin's form got the whole query and shows none of it: at another address, where the
 * service has stored none, the hidden query is sent in full.
 */
function wholeUrl(entered: string, stored = ''): string {
  const query = stored.indexOf('?')
  const isMoved = query > 0 && entered.endsWith(hiddenQuery) && entered !== withoutQuery(stored)
  return isMoved ? entered.slice(0, -hiddenQuery.length) + stored.slice(query) : entered
}

/** The initial values of a configuration's form. */
export function configValues(config?: ThirdPartyConfigRecord): ConfigValues {
  // In the type of the record, they are plain text.
  const events = eventTypes.filter((type) => config?.callbackEvents.includes(type))
  return {
    operatorName: config?.operatorName ?? '',
    operatorId: config?.operatorId ?? '',
    callbackUrl: withoutQuery(config?.callbackUrl ?? ''),
    // No chosen type means all types.
    callbackEvents: events.length === eventTypes.length ? [] : events,
  }
}

/** The request's body. Without chosen events the member is left out, which means all of them. */
export function configBody({ callbackEvents, ...entered }: ConfigValues, stored?: ThirdPartyConfigRecord) {
  const members = { ...entered, callbackUrl: wholeUrl(entered.callbackUrl, stored?.callbackUrl ?? undefined) }
  return callbackEvents.length === 0 ? members : { ...members, callbackEvents }
}

/** The names of fields in forms, for refusals that name fields. */
export function useFieldNames(): Record<string, string> {
  const t = useTexts()
  const names = {
    operatorName: t('operatorName'),
    operatorId: t('operatorId'),
    callbackUrl: t('callbackUrl'),
    callbackEvents: t('callbackEvents'),
  }
  return {
    appName: t('appName'),
    tokenLifetimeSeconds: t('tokenLifetimeSeconds'),
    rateLimitPerSecond: t('rateLimitPerSecond'),
    ...names,
    ...Object.fromEntries(Object.entries(names).map(([field, name]) => [`thirdPartyConfig.${field}`, name])),
  }
}

export function ApplicationFields() {
  const t = useTexts()
  const needed = { required: true, message: t('required') }
  return (
    <>
      <Form.Item name="appName" label={t('appName')} rules={[{ ...needed, whitespace: true }]}>
        <Input autoComplete="off" />
      </Form.Item>
      <Form.Item
        name="tokenLifetimeSeconds"
        label={t('tokenLifetimeSeconds')}
        extra={t('tokenLifetimeHint', {
          most: mostTokenLifetimeSeconds,
          words: durationWords(t, mostTokenLifetimeSeconds),
        })}
        rules={[needed]}
      >
        <InputNumber min={1} max={mostTokenLifetimeSeconds} precision={0} style={{ width: 180 }} />
      </Form.Item>
      <Form.Item
        name="rateLimitPerSecond"
        label={t('rateLimitPerSecond')}
        extra={t('rateLimitHint')}
        required
        rules={[
          {
            validator: (_, value: unknown) =>
              value === undefined ? Promise.reject(new Error(t('required'))) : Promise.resolve(),
          },
        ]}
      >
        <RateLimit />
      </Form.Item>
    </>
  )
}

interface RateLimitProps {
  id?: string
  value?: number | null
  onChange?: (value: number | null | undefined) => void
}

/** A number, or no limit. An emptied field does not mean no limit. */
function RateLimit({ id, value, onChange }: RateLimitProps) {
  const t = useTexts()
  const [last, setLast] = useState(value ?? defaultRateLimitPerSecond)
  const isUnlimited = value === null
  return (
    <div className="buttons">
      <InputNumber
        id={id}
        min={1}
        max={mostRateLimitPerSecond}
        precision={0}
        style={{ width: 180 }}
        disabled={isUnlimited}
        value={isUnlimited ? last : value}
        onChange={(rate) => {
          if (rate !== null) setLast(rate)
          onChange?.(rate ?? undefined)
        }}
      />
      <Checkbox checked={isUnlimited} onChange={({ target }) => onChange?.(target.checked ? null : last)}>
        {t('noLimit')}
      </Checkbox>
    </div>
  )
}

/** The fields of a third-party configuration; `under` is the member of a larger form that holds them. */
export function ConfigFields({ under }: { under?: string }) {
  const t = useTexts()
  const words = useTypeWords()
  const at = (field: string) => (under === undefined ? field : [under, field])
  return (
    <>
      <Form.Item
        name={at('operatorName')}
        label={t('operatorName')}
        rules={[{ required: true, whitespace: true, message: t('required') }]}
      >
        <Input autoComplete="off" />
      </Form.Item>
      <Form.Item
        name={at('operatorId')}
        label={t('operatorId')}
        extra={t('operatorIdHint')}
        rules={[{ pattern: new RegExp(operatorIdPattern, 'u'), message: t('operatorIdWrong') }]}
      >
        <Input autoComplete="off" className="mono" style={{ width: 180 }} />
      </Form.Item>
      <Form.Item name={at('callbackUrl')} label={t('callbackUrl')} extra={t('callbackUrlHint')}>
        <Input type="url" inputMode="url" autoComplete="off" placeholder="https://" />
      </Form.Item>
      <Form.Item name={at('callbackEvents')} label={t('callbackEvents')} extra={t('callbackEventsHint')}>
        <ManySelect
          allowClear
          placeholder={t('allEvents')}
          options={eventTypes.map((type) => ({ value: type, label: words(type), title: type }))}
        />
      </Form.Item>
    </>
  )
}

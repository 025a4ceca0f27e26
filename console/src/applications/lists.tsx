import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { TObject, TSchema } from 'typebox'
import type { ApplicationRecord } from '../../../src/applications/contract.ts'
import { type BillingRuleRecord, pageBillingRules } from '../../../src/billing-rules/contract.ts'
import { type DeviceRecord, pageDevices } from '../../../src/devices/contract.ts'
import { type EventRecord, pageEvents } from '../../../src/events/contract.ts'
import { type OperatorRecord, pageOperators } from '../../../src/people/operators/contract.ts'
import { pageSites, type SiteRecord } from '../../../src/sites/contract.ts'
import type { Operation } from '../../../src/vocabulary/operation.ts'
import { paths } from '../paths.ts'
import { type Column, Records } from '../ui/table/records.tsx'
import { actorColumn } from '../ui/text/actor.tsx'
import { HealthState, OnlineState, RunState, State } from '../ui/text/status.tsx'
import { useTypeWords } from '../words/type-words.ts'
import { useTexts } from './texts.ts'

interface TabProps {
  application: ApplicationRecord
}

interface ListProps<Item, Body extends TObject, Query extends TObject, Data extends TSchema> {
  name: string
  orderedBy?: string
  operation: Operation<Body, Query, Data>
  input: Record<string, unknown>
  columns: Column<Item>[]
  rowKey: (item: Item) => string | number
  empty: string
  /** The address of the whole page, with all its filters. */
  to: string
  toText: string
}

/** An application's records of one kind, with a link to the page that shows all of them. */
function List<Item extends object, Body extends TObject, Query extends TObject, Data extends TSchema>({
  name,
  empty,
  to,
  toText,
  ...records
}: ListProps<Item, Body, Query, Data>) {
  return (
    <section className="card">
      <Records name={`application-${name}`} empty={empty} isLive footer={<Link to={to}>{toText}</Link>} {...records} />
    </section>
  )
}

export function SitesTab({ application: { appId } }: TabProps) {
  const t = useTexts()
  const columns: Column<SiteRecord>[] = [
    {
      key: 'siteName',
      title: t('site'),
      isFixed: true,
      render: ({ id, siteName }) => <Link to={paths.site(appId, id)}>{siteName}</Link>,
    },
    { key: 'id', title: t('id'), className: 'number' },
    {
      key: 'address',
      title: t('address'),
      render: ({ cityName, districtName, detailAddress }) =>
        [cityName, districtName, detailAddress].filter((part) => part !== null).join(' '),
    },
    {
      key: 'businessHours',
      title: t('openingHours'),
      className: 'number',
      render: (site) => `${site.businessStartTime} – ${site.businessClosingTime}`,
    },
    { key: 'contacts', title: t('contacts'), isExtra: true },
    { key: 'createTime', title: t('createTime'), className: 'number' },
  ]
  return (
    <List
      name="sites"
      operation={pageSites}
      input={{ appId }}
      columns={columns}
      rowKey={({ id }) => id}
      empty={t('noSites')}
      to={paths.sites({ appId })}
      toText={t('allSites')}
    />
  )
}

export function DevicesTab({ application: { appId } }: TabProps) {
  const t = useTexts()
  const columns: Column<DeviceRecord>[] = [
    {
      key: 'deviceNo',
      title: t('deviceNo'),
      isFixed: true,
      className: 'mono',
      render: ({ deviceNo }) => <Link to={paths.device(appId, deviceNo)}>{deviceNo}</Link>,
    },
    { key: 'deviceName', title: t('deviceName') },
    { key: 'modelName', title: t('modelName'), none: t('unknown'), isExtra: true },
    {
      key: 'onlineStatus',
      title: t('onlineStatus'),
      render: ({ onlineStatus }) => <OnlineState status={onlineStatus} />,
    },
    { key: 'status', title: t('health'), render: ({ status }) => <HealthState status={status} /> },
    { key: 'runStatus', title: t('status'), render: ({ runStatus }) => <RunState status={runStatus} /> },
    { key: 'createTime', title: t('createTime'), className: 'number' },
  ]
  return (
    <List
      name="devices"
      operation={pageDevices}
      input={{ appId }}
      columns={columns}
      rowKey={({ deviceNo }) => deviceNo}
      empty={t('noDevices')}
      to={paths.devices({ appId })}
      toText={t('allDevices')}
    />
  )
}

export function BillingRulesTab({ application: { appId } }: TabProps) {
  const t = useTexts()
  const types = [t('type_1'), t('type_2'), t('type_3')]
  const columns: Column<BillingRuleRecord>[] = [
    {
      key: 'ruleName',
      title: t('billingRule'),
      isFixed: true,
      render: ({ id, ruleName }) => <Link to={paths.billingRule(appId, id)}>{ruleName}</Link>,
    },
    { key: 'id', title: t('id'), className: 'number' },
    { key: 'ruleType', title: t('type'), render: ({ ruleType }) => types[ruleType - 1] ?? ruleType },
    { key: 'createTime', title: t('createTime'), className: 'number' },
  ]
  return (
    <List
      name="billing-rules"
      operation={pageBillingRules}
      input={{ appId }}
      columns={columns}
      rowKey={({ id }) => id}
      empty={t('noBillingRules')}
      to={paths.billingRules({ appId })}
      toText={t('allBillingRules')}
    />
  )
}

export function EventsTab({ application: { appId } }: TabProps) {
  const t = useTexts()
  const words = useTypeWords()
  const columns: Column<EventRecord>[] = [
    { key: 'id', title: t('id'), isFixed: true, className: 'number' },
    { key: 'time', title: t('time'), className: 'number' },
    { key: 'type', title: t('type'), render: ({ type }) => <span title={type}>{words(type)}</span> },
    actorColumn(t('by')),
  ]
  return (
    <List
      name="events"
      operation={pageEvents}
      input={{ appId }}
      orderedBy="time"
      columns={columns}
      rowKey={({ id }) => id}
      empty={t('noEventsHere')}
      to={paths.events({ appId })}
      toText={t('allEventsLink')}
    />
  )
}

export function MembersTab({ application: { appId } }: TabProps) {
  const t = useTexts()
  const columns: Column<OperatorRecord>[] = [
    { key: 'name', title: t('person'), isFixed: true },
    { key: 'role', title: t('role'), render: ({ role }) => t(`role_${role}` as 'role_admin') },
    { key: 'status', title: t('status'), render: (operator) => <PersonState operator={operator} /> },
    { key: 'signInTime', title: t('signInTime'), className: 'number', none: t('never') },
  ]
  return (
    <List
      name="members"
      operation={pageOperators}
      input={{ appId }}
      columns={columns}
      rowKey={({ id }) => id}
      empty={t('noMembers')}
      to={paths.people()}
      toText={t('allPeople')}
    />
  )
}

function PersonState({ operator: { status, isSetUp } }: { operator: OperatorRecord }): ReactNode {
  const t = useTexts()
  if (status === 2) return <State tone="idle">{t('disabled')}</State>
  return isSetUp ? <State tone="good">{t('active')}</State> : <State tone="warn">{t('notSetUp')}</State>
}

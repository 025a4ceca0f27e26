import { Link } from 'react-router'
import { pageRefusals, type RefusalRecord } from '../../../src/events/refusal-log/contract.ts'
import { refusals } from '../../../src/vocabulary/refusals.ts'
import { defineTexts, useLanguage } from '../language/index.ts'
import { paths } from '../paths.ts'
import { ApplicationFilter } from '../ui/filter/application-picker.tsx'
import { ChoiceFilter, RangeFilter, TextFilter, useFilters } from '../ui/filter/filters.tsx'
import { Nothing } from '../ui/page/nothing.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { actorColumn } from '../ui/text/actor.tsx'
import { useApplicationColumn } from '../ui/text/application-name.tsx'
import { FilterBar } from '../views/filter-bar.tsx'
import { Faults } from '../words/faults.tsx'
import { operationWords } from '../words/operation-words.ts'

const useTexts = defineTexts(
  {
    hint: 'Requests to create, change or delete something that were refused in the last few days, with the reason. The 1,000 newest of each application are kept.',
    none: 'No refused requests.',
    operation: 'Operation',
    requestId: 'Request ID',
    deviceNo: 'Serial number',
  },
  {
    hint: '最近几天被拒绝的写请求及其原因。每个应用保留最新的 1,000 条。',
    none: '没有被拒绝的请求。',
    operation: '操作',
    requestId: '请求编号',
    deviceNo: '序列号',
  },
)

const filterNames = ['appId', 'deviceNo', 'code', 'requestId', 'timeFrom', 'timeTo'] as const

/** The log of refused writes, of all applications or of one. */
export function Page() {
  const t = useTexts()
  const filters = useFilters(filterNames, ['appId'])
  const { values, of, range } = filters
  const language = useLanguage()
  return (
    <PageFrame operation={pageRefusals}>
      <section className="card">
        <FilterBar views="refusals" values={values}>
          <ApplicationFilter isOptional {...of('appId')} />
          <TextFilter label={t('deviceNo')} {...of('deviceNo')} />
          <ChoiceFilter
            label={t('reason')}
            {...of('code')}
            choices={Object.values(refusals).map(({ code, [language]: words }) => ({
              value: String(code),
              label: `${code} ${words}`,
            }))}
            width={200}
          />
          <TextFilter label={t('requestId')} {...of('requestId')} />
          <RangeFilter label={t('time')} {...range('timeFrom', 'timeTo')} />
        </FilterBar>
        <p className="faint">{t('hint')}</p>
        <Records
          name="refusals"
          operation={pageRefusals}
          exportKind="refusals"
          input={{ ...values, sort: 'time', order: 'desc' }}
          columns={useColumns(values.appId)}
          rowKey={keyOf}
          filters={filters}
          empty={<Nothing words={t('none')} />}
        />
      </section>
    </PageFrame>
  )
}

const keys = new WeakMap<RefusalRecord, number>()
let lastKey = 0

/** Gives each refusal a key of its own, because rows of one batch may be equal in all members. */
function keyOf(refusal: RefusalRecord): number {
  const key = keys.get(refusal) ?? ++lastKey
  keys.set(refusal, key)
  return key
}

function useColumns(appId: string): Column<RefusalRecord>[] {
  const t = useTexts()
  const language = useLanguage()
  const application = useApplicationColumn<RefusalRecord>(appId)
  return [
    { key: 'time', title: t('time'), className: 'number', isFixed: true },
    ...application,
    {
      key: 'subject',
      title: t('subject'),
      className: 'mono',
      most: 160,
      render: (_, refusal) => <Subject refusal={refusal} />,
    },
    { key: 'reason', title: t('reason'), isFixed: true, render: (_, refusal) => <Reason refusal={refusal} /> },
    {
      key: 'operation',
      title: t('operation'),
      render: (_, { operation }) => <span title={operation}>{operationWords[operation]?.[language] ?? operation}</span>,
    },
    { ...actorColumn<RefusalRecord>(t('by')), isExtra: true },
    { key: 'requestId', title: t('requestId'), className: 'mono', isExtra: true },
  ]
}

/** The subject of a refusal; a serial number links to the list of devices, filtered by it. */
function Subject({ refusal: { subject, operation } }: { refusal: RefusalRecord }) {
  if (subject === null || !/device/i.test(operation)) return subject
  return <Link to={paths.devices({ deviceNo: subject })}>{subject}</Link>
}

/** The service's message, with each faulty field. */
function Reason({ refusal: { code, name, errors } }: { refusal: RefusalRecord }) {
  const language = useLanguage()
  return (
    <div className="wraps narrow-cell">
      <span className="number faint">{code}</span> {refusals[name][language]}
      <Faults errors={errors} />
    </div>
  )
}

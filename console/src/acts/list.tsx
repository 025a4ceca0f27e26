import { Empty } from 'antd'
import { Link } from 'react-router'
import { type ActRecord, pageActs } from '../../../src/bulk/acts/contract.ts'
import { ImportState, isUnderWay } from '../imports/parts.tsx'
import { useTexts as useImportTexts } from '../imports/texts.ts'
import { paths } from '../paths.ts'
import { ApplicationFilter } from '../ui/filter/application-picker.tsx'
import { ChoiceFilter, RangeFilter, useFilters } from '../ui/filter/filters.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { actorColumn } from '../ui/text/actor.tsx'
import { useApplicationColumn } from '../ui/text/application-name.tsx'
import { grouped } from '../ui/text/number.ts'
import { useCommon } from '../ui/text/texts.ts'
import { FilterBar } from '../views/filter-bar.tsx'
import { percentOf, useActName } from './parts.tsx'
import { useTexts } from './texts.ts'

const filterNames = ['appId', 'kind', 'status', 'timeFrom', 'timeTo'] as const
const refetchInterval = 5_000

/** The recent acts on everything that matched, of all applications or of one. */
export function Page() {
  const t = useTexts()
  const imports = useImportTexts()
  const { values, set, clear, isNarrowed } = useFilters(filterNames)
  const { appId } = values
  return (
    <PageFrame operation={pageActs}>
      <section className="card">
        <FilterBar views="acts" values={values}>
          <ApplicationFilter isOptional value={appId} onChange={(chosen) => set({ appId: chosen })} />
          <ChoiceFilter
            label={t('kind')}
            value={values.kind}
            onChange={(kind) => set({ kind })}
            choices={(['devices', 'sites'] as const).map((value) => ({ value, label: t(value) }))}
          />
          <ChoiceFilter
            label={t('status')}
            value={values.status}
            onChange={(status) => set({ status })}
            choices={([1, 2, 3, 4, 5] as const).map((value) => ({
              value: String(value),
              label: imports(`status_${value}`),
            }))}
          />
          <RangeFilter
            label={t('started')}
            from={values.timeFrom}
            to={values.timeTo}
            onChange={(timeFrom, timeTo) => set({ timeFrom, timeTo })}
          />
        </FilterBar>
        <p className="faint">{t('week')}</p>
        <Records
          name="acts"
          operation={pageActs}
          input={values}
          columns={useColumns(appId)}
          rowKey={({ id }) => id}
          refetchInterval={refetchInterval}
          isNarrowed={isNarrowed(['appId'])}
          clear={() => clear(['appId'])}
          empty={<Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('none')} />}
        />
      </section>
    </PageFrame>
  )
}

function useColumns(chosen: string): Column<ActRecord>[] {
  const t = useTexts()
  const common = useCommon()
  const nameOf = useActName()
  const application = useApplicationColumn<ActRecord>(chosen)
  const count = (key: 'rows' | 'done' | 'unchanged' | 'refused'): Column<ActRecord> => ({
    key,
    title: t(key),
    align: 'end',
    className: 'number',
    render: (_, { [key]: value }) => grouped(value),
  })
  return [
    {
      key: 'id',
      title: t('one'),
      isFixed: true,
      render: (_, { id, kind, act }) => (
        <Link to={paths.act(id)}>{t('actTitle', { id, act: nameOf(kind as 'devices', act as 'update') })}</Link>
      ),
    },
    ...application,
    {
      key: 'status',
      title: t('status'),
      isFixed: true,
      render: (_, act) => (
        <>
          <ImportState status={act.status} /> {isUnderWay(act) && <span className="number">{percentOf(act)} %</span>}
          {act.dryRun && <span className="faint"> · {t('dryRun')}</span>}
        </>
      ),
    },
    count('rows'),
    count('done'),
    count('unchanged'),
    count('refused'),
    actorColumn<ActRecord>(t('actor')),
    { key: 'createTime', title: t('started'), dataIndex: 'createTime', className: 'number' },
    {
      key: 'finishTime',
      title: t('finished'),
      className: 'number',
      isExtra: true,
      render: (_, { finishTime }) => finishTime ?? common('unknown'),
    },
  ]
}

import { Empty } from 'antd'
import { Link } from 'react-router'
import { createImport, type ImportRecord, pageImports } from '../../../src/bulk/contract.ts'
import { useMay } from '../api/session.tsx'
import { paths } from '../paths.ts'
import { ApplicationFilter } from '../ui/filter/application-picker.tsx'
import { ChoiceFilter, RangeFilter, useFilters } from '../ui/filter/filters.tsx'
import { LinkButton } from '../ui/page/link-button.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { actorColumn } from '../ui/text/actor.tsx'
import { ApplicationName } from '../ui/text/application-name.tsx'
import { grouped } from '../ui/text/number.ts'
import { useCommon } from '../ui/text/texts.ts'
import { FilterBar } from '../views/filter-bar.tsx'
import { ImportState, isUnderWay, percentOf, showBytes } from './parts.tsx'
import { useTexts } from './texts.ts'

const filterNames = ['appId', 'kind', 'status', 'timeFrom', 'timeTo'] as const
const refetchInterval = 5_000

/** The recent imports, of all applications or of one. */
export function Page() {
  const t = useTexts()
  const may = useMay()
  const { values, set, clear, isNarrowed } = useFilters(filterNames)
  const { appId } = values
  const choice = (name: 'kind' | 'status', choices: { value: string; label: string }[]) => (
    <ChoiceFilter label={t(name)} value={values[name]} onChange={(value) => set({ [name]: value })} choices={choices} />
  )
  const newImport = paths.newImport({ appId, kind: values.kind })
  return (
    <PageFrame
      operation={pageImports}
      actions={
        may(createImport) && (
          <LinkButton type="primary" to={newImport}>
            {t('newTitle')}
          </LinkButton>
        )
      }
    >
      <section className="card">
        <FilterBar views="imports" values={values}>
          <ApplicationFilter isOptional value={appId} onChange={(chosen) => set({ appId: chosen })} />
          {choice(
            'kind',
            (['sites', 'devices', 'placements', 'inventory'] as const).map((value) => ({ value, label: t(value) })),
          )}
          {choice(
            'status',
            ([1, 2, 3, 4, 5] as const).map((value) => ({ value: String(value), label: t(`status_${value}`) })),
          )}
          <RangeFilter
            label={t('started')}
            from={values.timeFrom}
            to={values.timeTo}
            onChange={(timeFrom, timeTo) => set({ timeFrom, timeTo })}
          />
        </FilterBar>
        <p className="faint">{t('week')}</p>
        <Records
          name="imports"
          operation={pageImports}
          input={values}
          columns={useColumns(appId)}
          rowKey={({ id }) => id}
          refetchInterval={refetchInterval}
          isNarrowed={isNarrowed(['appId'])}
          clear={() => clear(['appId'])}
          empty={
            <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('none')}>
              {may(createImport) && <Link to={newImport}>{t('newTitle')}</Link>}
            </Empty>
          }
        />
      </section>
    </PageFrame>
  )
}

function useColumns(chosen: string): Column<ImportRecord>[] {
  const t = useTexts()
  const common = useCommon()
  const count = (key: 'rows' | 'created' | 'updated' | 'existing' | 'refused'): Column<ImportRecord> => ({
    key,
    title: t(key),
    align: 'end',
    className: 'number',
    render: (_, { [key]: value }) => grouped(value),
  })
  const application: Column<ImportRecord> = {
    key: 'appId',
    title: common('application'),
    isFixed: true,
    most: 160,
    render: (_, { appId }) => appId !== null && <ApplicationName appId={appId} />,
  }
  return [
    {
      key: 'id',
      title: t('one'),
      isFixed: true,
      render: (_, { id, kind }) => <Link to={paths.import(id)}>{t('jobTitle', { id, kind: t(kind) })}</Link>,
    },
    ...(chosen === '' ? [application] : []),
    {
      key: 'status',
      title: t('status'),
      isFixed: true,
      render: (_, job) => (
        <>
          <ImportState status={job.status} /> {isUnderWay(job) && <span className="number">{percentOf(job)} %</span>}
          {job.dryRun && <span className="faint"> · {t('dryRun')}</span>}
        </>
      ),
    },
    count('rows'),
    count('created'),
    count('updated'),
    count('existing'),
    count('refused'),
    {
      key: 'size',
      title: t('size'),
      align: 'end',
      className: 'number',
      isExtra: true,
      render: (_, { bytes }) => showBytes(bytes),
    },
    actorColumn<ImportRecord>(t('actor')),
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

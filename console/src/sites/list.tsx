import { PlusOutlined } from '@ant-design/icons'
import { Link } from 'react-router'
import { pageSites, type SiteRecord, saveSite, updateSite } from '../../../src/sites/contract.ts'
import { schedulePriceChange } from '../../../src/sites/price-changes/contract.ts'
import { AllThatMatch } from '../acts/all-that-match.tsx'
import { useMay } from '../api/api.ts'
import { paths } from '../paths.ts'
import { SiteDevices } from '../placements/parts.tsx'
import { OtherRulesButton } from '../prices/other-rules-button.tsx'
import { SiteMark } from '../prices/waiting.tsx'
import { ruleFields } from '../pricing/rule-fields.ts'
import { RuleFilter } from '../pricing/rule-picker.tsx'
import { RegionFilter } from '../regions/cascader.tsx'
import { ApplicationFilter, ChoiceFilter, RangeFilter, TextFilter, useFilters } from '../ui/filter/filters.tsx'
import { Nothing } from '../ui/page/nothing.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { useApplicationColumn } from '../ui/text/application-name.tsx'
import { State } from '../ui/text/status.tsx'
import { FilterBar } from '../views/filter-bar.tsx'
import { Hours, isOutOfService, RuleLink, regionName, SiteLink } from './show.tsx'
import './sites.css'
import { store, stored } from '../browser/storage.ts'
import { Button, LinkButton } from '../ui/page/button.tsx'
import { part } from '../ui/page/part.tsx'
import { Segments } from '../ui/page/segments.tsx'
import { OneLine } from '../ui/table/rows.tsx'
import { useSelection } from '../ui/table/selection.ts'
import { useTexts } from './texts.ts'

const SitesMap = part(async () => (await import('./sites-map.tsx')).SitesMap)

const filterNames = [
  'siteName',
  'contacts',
  'provinceCode',
  'cityCode',
  'districtCode',
  'billingRuleId',
  'timeFrom',
  'timeTo',
  'hasDevices',
  'bbox',
] as const

/** The key under which the last view, list or map, is stored. */
const viewKey = 'forecourt.sites.view'

/** Parameters of the address that are not filters. */
const frameNames = ['appId', 'view'] as const

export function Page() {
  const t = useTexts()
  const may = useMay()
  const { appId } = useFilters(frameNames).values
  return (
    <PageFrame
      operation={pageSites}
      actions={
        may(saveSite) && (
          <>
            <LinkButton to={paths.newImport({ kind: 'sites', appId })}>{t('import')}</LinkButton>
            <LinkButton type="primary" icon={<PlusOutlined />} to={paths.newSite({ appId })}>
              {t('newSite')}
            </LinkButton>
          </>
        )
      }
    >
      <Sites />
    </PageFrame>
  )
}

function Sites() {
  const t = useTexts()
  const filters = useFilters([...filterNames, ...frameNames], frameNames)
  const { values, set, of, range } = filters
  const { view: asked, ...input } = values
  const view = asked || stored(viewKey)
  const { appId } = values
  const rows = <Rows appId={appId} input={input} filters={filters} isBesideMap={view === 'map'} />
  return (
    <section className="card">
      <FilterBar
        views="sites"
        values={input}
        beside={
          <Segments
            label={t('views')}
            value={view === 'map' ? 'map' : 'table'}
            onChange={(chosen) => {
              store(viewKey, chosen)
              set({ view: chosen === 'map' ? 'map' : '' })
            }}
            options={[
              { value: 'table', label: t('table') },
              { value: 'map', label: t('map') },
            ]}
          />
        }
      >
        <ApplicationFilter
          isOptional
          value={appId}
          // A rule belongs to one application, so choosing another clears this filter.
          onChange={(chosen) => set({ appId: chosen, billingRuleId: '' })}
        />
        <TextFilter label={t('siteName')} {...of('siteName')} />
        <TextFilter label={t('contacts')} {...of('contacts')} />
        <RegionFilter values={values} onChange={set} />
        {appId !== '' && <RuleFilter appId={appId} {...of('billingRuleId')} />}
        <RangeFilter label={t('createTime')} {...range('timeFrom', 'timeTo')} />
        <ChoiceFilter
          label={t('devices')}
          {...of('hasDevices')}
          choices={{ true: t('withDevices'), false: t('withoutDevices') }}
        />
        {values.bbox !== '' && <AreaFilter bbox={values.bbox} onClear={() => set({ bbox: '' })} />}
      </FilterBar>
      {view !== 'map' && rows}
      {view === 'map' && (
        <div className="table-and-map">
          {rows}

          <SitesMap key={appId} input={input} bbox={values.bbox} onBbox={(bbox) => set({ bbox })} />
        </div>
      )}
    </section>
  )
}

/** The filter by map area, which is set on the map and cleared here. */
function AreaFilter({ bbox, onClear }: { bbox: string; onClear: () => void }) {
  const t = useTexts()
  return (
    <div className="faint field-of-filter">
      <span>
        {t('mapArea')} <span className="mono">{bbox}</span>
      </span>
      <Button onClick={onClear}>{t('clearArea')}</Button>
    </div>
  )
}

interface RowsProps {
  appId: string
  input: Record<string, string>
  filters: { isNarrowed: boolean; clear: () => void }
  isBesideMap: boolean
}

function Rows({ appId, input, filters, isBesideMap }: RowsProps) {
  const t = useTexts()
  const may = useMay()
  const [keys, choose] = useSelection()
  const maySelect = may(schedulePriceChange)
  const application = useApplicationColumn<SiteRecord>(appId, t('orderAcross'))
  const columns: Column<SiteRecord>[] = [
    {
      key: 'siteName',
      sortBy: 'siteName',
      title: t('siteName'),
      isFixed: true,
      className: 'fills',
      render: (site) => (
        <span className="marked">
          <span className="one-line" title={site.siteName}>
            <SiteLink site={site} />
          </span>
          <SiteMark site={site} />
        </span>
      ),
    },
    ...application,
    { key: 'id', sortBy: 'id', title: t('siteId'), className: 'number', isExtra: true },
    {
      key: 'region',
      sortBy: 'districtCode',
      title: t('region'),
      render: (site) => <OneLine text={regionName(site)} most={isBesideMap && appId === '' ? 128 : 240} />,
    },
    { key: 'detailAddress', title: t('detailAddress'), className: 'fills', isExtra: 1600 },
    { key: 'contacts', title: t('contacts'), isExtra: 1600 },
    { key: 'contactsPhone', title: t('contactsPhone'), className: 'number', isExtra: 1600 },
    { key: 'customerServicePhone', title: t('customerServicePhone'), className: 'number', isExtra: true },
    {
      key: 'devices',
      title: t('devices'),
      least: 124,
      render: (site, sites) => <SiteDevices site={site} among={sites} />,
    },
    {
      key: 'hours',
      title: t('openingHours'),
      render: (site) => (isOutOfService(site) ? <State tone="warn">{t('outOfService')}</State> : <Hours site={site} />),
    },
    { key: 'businessWeekDay', title: t('businessWeekDay'), isExtra: true },
    ...ruleFields.map(
      ({ field }): Column<SiteRecord> => ({
        key: field,
        title: t(field),
        isExtra: true,
        render: (site) => <RuleLink appId={site.appId} id={site[field]} />,
      }),
    ),
    { key: 'ipcIds', title: t('ipcIds'), className: 'mono', isExtra: true },
    { key: 'coordinates', title: t('coordinates'), className: 'mono', isExtra: true },
    { key: 'createTime', sortBy: 'createTime', title: t('createTime'), className: 'number', isExtra: 1320 },
    ...(may(updateSite) ? [actions(t('actions'), t('edit'))] : []),
  ]
  return (
    <Records
      name={isBesideMap ? 'sites-beside-map' : 'sites'}
      operation={pageSites}
      isLive
      exportKind="sites"
      input={input}
      columns={isBesideMap ? columns.map(besideMap) : columns}
      rowKey={keyOf}
      filters={filters}
      {...(maySelect && { selection: { keys, onChange: (now) => choose(now as string[]) } })}
      footer={(found) => (
        <>
          {found.total > 0 && (
            <OtherRulesButton appId={appId} chosen={keys.map(readKey)} filters={input} onDone={() => choose([])} />
          )}
          <AllThatMatch kind="sites" appId={appId} values={input} {...found} />
        </>
      )}
      empty={
        <Nothing words={t('none')}>
          {may(saveSite) && <LinkButton to={paths.newSite({ appId })}>{t('newSite')}</LinkButton>}
        </Nothing>
      }
    />
  )
}

/** Identifies a row among the sites of all applications. */
const keyOf = ({ appId, id }: Pick<SiteRecord, 'appId' | 'id'>) => `${appId} ${id}`
const readKey = (key: string) => ({ appId: key.split(' ')[0] ?? '', id: Number(key.split(' ')[1]) })

/** Beside the map, only the name, application and region are shown by default; the user can add other columns. */
const besideMap = (column: Column<SiteRecord>): Column<SiteRecord> =>
  ['siteName', 'appId', 'region'].includes(column.key) ? column : { ...column, isExtra: true, isFixed: false }

function actions(title: string, edit: string): Column<SiteRecord> {
  return {
    key: 'actions',
    title,
    isFixed: true,
    render: ({ appId, id, siteName }) => (
      <Link to={paths.editSite(appId, id)} aria-label={`${edit} ${siteName}`}>
        {edit}
      </Link>
    ),
  }
}

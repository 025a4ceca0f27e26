import { useId } from 'react'
import { Link } from 'react-router'
import {
  type PlacedDeviceRecord,
  pagePlacements,
  type SiteSummary,
  summarizePlacements,
} from '../../../src/devices/placement/contract.ts'
import { getSite, pageSites } from '../../../src/sites/contract.ts'
import { call, useRead } from '../api/api.ts'
import { useCommon } from '../language/index.ts'
import { paths } from '../paths.ts'
import { NothingFound, useTypedSearch } from '../ui/filter/search.tsx'
import { Select } from '../ui/form/fields.tsx'
import { ofRows } from '../ui/table/of-rows.ts'
import { OneLine } from '../ui/table/rows.tsx'
import { State } from '../ui/text/status.tsx'
import { type LaneType, useTexts } from './texts.ts'

/** How often the summary of a site's devices is read again, in milliseconds. */
const refreshEvery = 30_000

/** The kind of a lane, with its name. */
export function Lane({ laneType, laneName }: { laneType: number; laneName: string | null }) {
  const t = useTexts()
  return (
    <span>
      {t(`lane_${laneType as LaneType}`)}
      {laneName !== null && <span className="faint"> · {laneName}</span>}
    </span>
  )
}

interface Site {
  appId: string
  id: number
}

/** Reads the counts of the devices that are placed at a site. */
export const useSummary = ofRows<Site, SiteSummary>({
  name: summarizePlacements.id,
  keyOf: ({ id }) => String(id),
  load: async (appId, ids) => {
    const { data } = await call(summarizePlacements, { appId, siteIds: ids.join(',') })
    return Object.fromEntries(data.list.map((one) => [one.siteId, one]))
  },
  refetchInterval: refreshEvery,
})

/** Whether a site has entrances of which none is online, or exits of which none is online. */
const isShut = ({ entrances, entrancesOnline, exits, exitsOnline }: SiteSummary) =>
  (entrances > 0 && entrancesOnline === 0) || (exits > 0 && exitsOnline === 0)

/** How many of a site's devices are online; red if no entrance, or no exit, is online. `among` are the table's sites. */
export function SiteDevices({ site, among }: { site: Site; among?: readonly Site[] }) {
  const t = useTexts()
  const summary = useSummary(site, among)
  if (summary == null || summary.devices === 0) return <span className="faint">{t('unknown')}</span>
  const { online, devices } = summary
  return (
    <Link to={paths.devices({ appId: site.appId, siteId: site.id })}>
      <State tone={isShut(summary) ? 'bad' : 'good'}>{t('onlineOf', { online, devices })}</State>
    </Link>
  )
}

interface Device {
  appId: string
  deviceNo: string
}

const usePlacement = ofRows<Device, PlacedDeviceRecord>({
  name: pagePlacements.id,
  keyOf: ({ deviceNo }) => deviceNo,
  load: async (appId, serials) => {
    // A serial number that contains a comma cannot be in a list of them, so it is requested alone.
    const alone = serials.filter((serial) => serial.includes(','))
    const listed = serials.filter((serial) => !serial.includes(','))
    const asked = [
      ...(listed.length === 0 ? [] : [{ deviceNos: listed.join(',') }]),
      ...alone.map((deviceNo) => ({ deviceNo })),
    ]
    const pages = await Promise.all(asked.map((one) => call(pagePlacements, { appId, pageSize: 100, ...one })))
    return Object.fromEntries(pages.flatMap(({ data }) => data.list.map((one) => [one.deviceNo, one])))
  },
  refetchInterval: refreshEvery,
})

/** A table cell with the site of a device; `among` are the table's devices. */
export function SiteOfDevice({ device, among }: { device: Device; among?: readonly Device[] }) {
  const t = useCommon()
  const placed = usePlacement(device, among)
  if (placed == null) return <span className="faint">{t('unknown')}</span>
  return (
    <Link to={paths.site(device.appId, placed.siteId)}>
      <OneLine text={placed.siteName} most={140} />
    </Link>
  )
}

interface SitePickerProps {
  appId: string
  id?: string
  label: string
  placeholder: string
  value: number | null
  onChange: (id: number | null) => void
}

/** Chooses one of an application's sites by a part of its name. */
export function SitePicker({ appId, id, label, placeholder, value, onChange }: SitePickerProps) {
  const t = useTexts()
  const { search, asked, isAsked } = useTypedSearch()
  const found = useRead(pageSites, { appId, pageSize: 20, siteName: asked }, { enabled: appId !== '' })
  const chosen = useRead(getSite, { appId, id: value ?? 0 }, { enabled: appId !== '' && value !== null })
  const listed = isAsked ? (found.data?.list ?? []) : []
  const isWaiting = !isAsked || found.isFetching
  const isListed = listed.some((site) => site.id === value)
  const known = chosen.data !== undefined && !isListed && asked === '' ? [chosen.data, ...listed] : listed
  return (
    <Select<number | null>
      {...(id === undefined ? {} : { id })}
      aria-label={label}
      allowClear
      style={{ width: '100%', minWidth: 160 }}
      popupMatchSelectWidth={false}
      showSearch={{ filterOption: false, onSearch: search }}
      placeholder={placeholder}
      value={value}
      onChange={(chosenId) => onChange(chosenId ?? null)}
      loading={isWaiting}
      notFoundContent={<NothingFound isWaiting={isWaiting} words={t('noSites')} />}
      options={known.map((site) => ({
        value: site.id,
        label: (
          <span>
            {site.siteName} <span className="faint number">{site.id}</span>
          </span>
        ),
      }))}
    />
  )
}

/** A filter: devices that are placed at a site. */
export function SiteFilter({
  appId,
  value,
  onChange,
}: {
  appId: string
  value: string
  onChange: (value: string) => void
}) {
  const t = useTexts()
  const id = useId()
  return (
    <label htmlFor={id}>
      {t('site')}
      <SitePicker
        id={id}
        appId={appId}
        label={t('site')}
        placeholder={t('anySite')}
        value={value === '' ? null : Number(value)}
        onChange={(chosen) => onChange(chosen === null ? '' : String(chosen))}
      />
    </label>
  )
}

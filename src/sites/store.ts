import type { Row } from 'postgres'
import type { Sql, Statements } from '../database/open.ts'
import { type PageQuery, readPage } from '../database/page.ts'
import type { ShowMoment } from '../moments.ts'
import { Refusal } from '../refusals.ts'
import type { Box } from '../values.ts'
import { type Site, showSite } from './rules.ts'

const columns = `id, app_id, site_name, contacts, contacts_phone, customer_service_phone, business_week_day,
  business_start_time, business_closing_time, site_picture_url, fast_rule_id, slow_rule_id, occupancy_rule_id, ipc_ids,
  province_code, province_name, city_code, city_name, district_code, district_name, detail_address, coordinates,
  longitude, latitude, created_at`

function toSite(row: Row): Site {
  return {
    id: row.id,
    appId: row.app_id,
    siteName: row.site_name,
    contacts: row.contacts,
    contactsPhone: row.contacts_phone,
    customerServicePhone: row.customer_service_phone,
    businessWeekDay: row.business_week_day,
    businessStartTime: row.business_start_time,
    businessClosingTime: row.business_closing_time,
    sitePictureUrl: row.site_picture_url,
    fastRuleId: row.fast_rule_id,
    slowRuleId: row.slow_rule_id,
    occupancyRuleId: row.occupancy_rule_id,
    ipcIds: row.ipc_ids,
    provinceCode: row.province_code,
    provinceName: row.province_name,
    cityCode: row.city_code,
    cityName: row.city_name,
    districtCode: row.district_code,
    districtName: row.district_name,
    detailAddress: row.detail_address,
    coordinates: row.coordinates,
    longitude: row.longitude,
    latitude: row.latitude,
    createdAt: row.created_at,
  }
}

/** The application's site with this id. Throws 30002, also for a site of another application. */
export async function requireSite(sql: Statements, appId: string, id: number): Promise<Site> {
  const [row] = await sql`select ${sql.unsafe(columns)} from site where app_id = ${appId} and id = ${id}`
  if (row === undefined) throw new Refusal('siteNotFound')
  return toSite(row)
}

/** Writes what an update can change. The transaction holds the application's lock. */
export async function saveChangedSite(tx: Statements, site: Site): Promise<void> {
  await tx`
    update site set site_name = ${site.siteName}, contacts = ${site.contacts}, contacts_phone = ${site.contactsPhone},
      customer_service_phone = ${site.customerServicePhone}, business_week_day = ${site.businessWeekDay},
      business_start_time = ${site.businessStartTime}, business_closing_time = ${site.businessClosingTime},
      site_picture_url = ${site.sitePictureUrl}, fast_rule_id = ${site.fastRuleId}, slow_rule_id = ${site.slowRuleId},
      occupancy_rule_id = ${site.occupancyRuleId}, ipc_ids = ${site.ipcIds}, province_code = ${site.provinceCode},
      province_name = ${site.provinceName}, city_code = ${site.cityCode}, city_name = ${site.cityName},
      district_code = ${site.districtCode}, district_name = ${site.districtName},
      detail_address = ${site.detailAddress}, coordinates = ${site.coordinates}, longitude = ${site.longitude},
      latitude = ${site.latitude}
    where app_id = ${site.appId} and id = ${site.id}`
}

/** Removes a site that exists. The transaction holds the application's lock. */
export async function removeSite(tx: Statements, { appId, id }: Site): Promise<void> {
  await tx`delete from site where app_id = ${appId} and id = ${id}`
}

const ruleColumns = ['fast_rule_id', 'slow_rule_id', 'occupancy_rule_id']

/** What a page of sites is narrowed to; what is null does not narrow it. */
export interface SiteFilter extends PageQuery {
  appId: string
  /** A part of it, in upper or lower case. */
  siteName: string | null
  contacts: string | null
  provinceCode: string | null
  cityCode: string | null
  districtCode: string | null
  /** In any of the three fields that name one. */
  billRuleId: number | null
  createdFrom: Date | null
  /** The first moment that does not fit any more. */
  createdBefore: Date | null
  bbox: Box | null
}

/** Pages through an application's sites by id, newest first. */
export function pageOfSites(sql: Sql, filter: SiteFilter, showMoment: ShowMoment) {
  const { appId, siteName, contacts, provinceCode, cityCode, districtCode, billRuleId, bbox } = filter
  const conditions = [
    siteName === null ? sql`` : sql`and strpos(lower(site_name), lower(${siteName})) > 0`,
    contacts === null ? sql`` : sql`and strpos(lower(contacts), lower(${contacts})) > 0`,
    provinceCode === null ? sql`` : sql`and province_code = ${provinceCode}`,
    cityCode === null ? sql`` : sql`and city_code = ${cityCode}`,
    districtCode === null ? sql`` : sql`and district_code = ${districtCode}`,
    billRuleId === null ? sql`` : sql`and ${billRuleId} in (${sql.unsafe(ruleColumns.join(', '))})`,
    filter.createdFrom === null ? sql`` : sql`and created_at >= ${filter.createdFrom}`,
    filter.createdBefore === null ? sql`` : sql`and created_at < ${filter.createdBefore}`,
    bbox === null
      ? sql``
      : sql`and longitude between ${bbox.minLng} and ${bbox.maxLng}
        and latitude between ${bbox.minLat} and ${bbox.maxLat}`,
  ]
  const rows = sql`select ${sql.unsafe(columns)} from site where app_id = ${appId} ${conditions}`
  const key = [{ column: 'id', type: 'bigint' as const }]
  return readPage(sql, { rows, key, newestFirst: true }, filter, (row) => showSite(toSite(row), showMoment))
}

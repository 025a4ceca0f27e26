import type { Row } from 'postgres'
import type { Statements } from '../../../database/open.ts'
import { readCoordinates } from '../../../vocabulary/coordinates.ts'
import { limits } from '../../../vocabulary/limits.ts'
import { Refusal } from '../../../vocabulary/refusals.ts'
import { requireDevice } from '../../store.ts'
import type { Suggestion } from '../contract.ts'
import { boxAround, earthRadiusMeters } from '../rules.ts'

/**
 * SQL: the great-circle distance in meters from `$2,$3`, null without coordinates. Haversine is exact for short
 * distances. The lateral look-up computes it once.
 */
const distanceSql = (longitude: string, latitude: string) => `cross join lateral (
      select case when ${latitude} is not null then ${2 * earthRadiusMeters} * asin(least(1, sqrt(
        sin(radians(${latitude} - $3::float8) / 2) ^ 2
        + cos(radians($3::float8)) * cos(radians(${latitude})) * sin(radians(${longitude} - $2::float8) / 2) ^ 2))) end as meters
    ) as distance`

/** Returns the values from `$2` on: the point, the distance and the rectangle around it. */
function pointValues(longitude: number, latitude: number, meters: number) {
  const { minLng, maxLng, minLat, maxLat } = boxAround(longitude, latitude, meters)
  return [longitude, latitude, meters, minLng, maxLng, minLat, maxLat]
}

const distanceOf = ({ meters }: Row): number | null => (meters === null ? null : Math.round(meters))

/** Returns devices without a site near this site, nearest first. Throws 30002. */
export async function suggestDevices(
  sql: Statements,
  appId: string,
  siteId: number,
  meters: number,
): Promise<Suggestion[]> {
  const [site] = await sql`
    select site_name, longitude, latitude, district_code from site where app_id = ${appId} and id = ${siteId}`
  if (site === undefined) throw new Refusal('siteNotFound')
  const { longitude, latitude } = site
  const nowhere = (candidates: string) => `
    select near.* from (${candidates}) as near left join lateral (
      select true as stands from placement where app_id = $1 and device_no = near.device_no and removed_at is null limit 1) as at on true
    where at.stands is null limit ${limits.suggestions}`
  const rows =
    longitude === null || latitude === null
      ? await sql.unsafe(
          nowhere(`
            select device_no, device_name, null as meters from device where app_id = $1 and district_code = $2
            order by bound_at desc, device_no desc`),
          [appId, site.district_code],
        )
      : await sql.unsafe(
          nowhere(`
            select d.device_no, d.device_name, distance.meters
            from device d ${distanceSql('d.location[0]', 'd.location[1]')}
            where d.app_id = $1 and d.location[0] between $5 and $6 and d.location[1] between $7 and $8
              and distance.meters <= $4
            order by distance.meters, d.device_no`),
          [appId, ...pointValues(longitude, latitude, meters)],
        )
  return rows.map((row) => ({
    deviceNo: row.device_no,
    deviceName: row.device_name,
    siteId,
    siteName: site.site_name,
    distanceMeters: distanceOf(row),
  }))
}

/** Returns sites near a device, nearest first, then those of its district without coordinates. Throws 20002. */
export async function suggestSites(
  sql: Statements,
  appId: string,
  deviceNo: string,
  meters: number,
): Promise<Suggestion[]> {
  const device = await requireDevice(sql, appId, deviceNo)
  const { longitude, latitude } = readCoordinates(device.coordinates)
  const rows = await sql.unsafe(
    `select s.id as site_id, s.site_name, distance.meters from site s ${distanceSql('s.longitude', 's.latitude')}
    where s.app_id = $1 and (s.longitude between $5 and $6 and s.latitude between $7 and $8 and distance.meters <= $4
      or s.longitude is null and s.district_code = $9)
    order by distance.meters nulls last, s.id desc limit ${limits.suggestions}`,
    [appId, ...pointValues(longitude as number, latitude as number, meters), device.districtCode],
  )
  return rows.map((row) => ({
    deviceNo,
    deviceName: device.deviceName,
    siteId: row.site_id,
    siteName: row.site_name,
    distanceMeters: distanceOf(row),
  }))
}

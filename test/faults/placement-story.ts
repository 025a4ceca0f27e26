import type postgres from 'postgres'

/**
 * Finds contradictions among all placements of a database, of which there must be none: a current placement without a
 * binding or a site, two placements of one device that overlap, and events that differ from the rows.
 */
export function placementFaults(sql: postgres.Sql): Promise<string[]> {
  return sql.begin('isolation level repeatable read', async (snapshot) => [
    ...(await rowFaults(snapshot)),
    ...(await eventFaults(snapshot)),
  ]) as Promise<string[]>
}

async function rowFaults(sql: postgres.TransactionSql): Promise<string[]> {
  const stays = await sql`select * from placement order by device_no, placed_at, id`
  const bindings = await sql`select device_no, app_id, bound_at from device_binding`
  const sites = await sql`select app_id, id from site`
  const keyOf = (...parts: unknown[]) => parts.map((part) => (part instanceof Date ? part.getTime() : part)).join(' ')
  const bound = new Set(bindings.map((row) => keyOf(row.app_id, row.device_no, row.bound_at)))
  const there = new Set(sites.map((row) => keyOf(row.app_id, row.id)))
  const faults: string[] = []
  for (const [index, stay] of stays.entries()) {
    const told = JSON.stringify(stay)
    if (stay.removed_at === null) {
      if (!bound.has(keyOf(stay.app_id, stay.device_no, stay.bound_at))) faults.push(`lasts without a binding: ${told}`)
      if (!there.has(keyOf(stay.app_id, stay.site_id))) faults.push(`lasts without a site: ${told}`)
    } else if (stay.removed_at < stay.placed_at) faults.push(`ends before it begins: ${told}`)
    const next = stays[index + 1]
    if (next?.device_no !== stay.device_no) continue
    if (stay.removed_at === null || stay.removed_at > next?.placed_at) {
      faults.push(`overlaps: ${told} and ${JSON.stringify(next)}`)
    }
  }
  return faults
}

/** Replays the events of a device in the order of its application's log: they must lead to the present rows. */
async function eventFaults(sql: postgres.TransactionSql): Promise<string[]> {
  const events = await sql`
    select app_id, type, subject, data from event
    where type in ('device.placed', 'device.unplaced', 'device.bound', 'device.unbound', 'device.transferred')
    order by app_id, id`
  const lasting = await sql`select app_id, device_no, site_id, lane_type from placement where removed_at is null`
  const ended = await sql<
    { count: number }[]
  >`select count(*)::int as count from placement where removed_at is not null`
  const standing = new Map<string, { siteId: number; laneType: number }>()
  const faults: string[] = []
  let ends = 0
  for (const { app_id, type, subject, data } of events) {
    const device = `${app_id} ${subject}`
    const record = JSON.parse(data)
    const before = standing.get(device)
    if (type === 'device.placed') {
      if (before !== undefined && before.siteId !== record.siteId) faults.push(`${device} is placed twice`)
      standing.set(device, record)
    } else if (type === 'device.unplaced') {
      if (before?.siteId !== record.siteId) faults.push(`${device} leaves a site where it does not stand`)
      if (record.removedTime === null || record.removedBy === null) faults.push(`${device} leaves without an end`)
      standing.delete(device)
      ends++
    } else if (before !== undefined) faults.push(`${device} still stands at ${type}`)
  }
  const told = [...standing].map(([device, { siteId, laneType }]) => `${device} ${siteId} ${laneType}`)
  const rows = lasting.map((row) => `${row.app_id} ${row.device_no} ${row.site_id} ${row.lane_type}`)
  if (told.sort().join() !== rows.sort().join()) faults.push(`events tell ${told}, rows ${rows}`)
  if (ends !== ended[0]?.count) faults.push(`${ends} events of ends, ${ended[0]?.count} rows`)
  return faults
}

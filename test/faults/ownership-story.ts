import type postgres from 'postgres'

/** A binding, with times in milliseconds; the current binding has no end. */
interface Binding {
  appId: string
  boundAt: number
  unboundAt: number | null
}

interface Happening {
  type: string
  appId: string
  at: number
  /** The owner that the event's record names. */
  recordOf: string | null
}

/** All that the database contains about one serial number, in one snapshot. */
export interface SerialStory {
  deviceNo: string
  /** The ended bindings in order, then the current one. */
  bindings: Binding[]
  happenings: Happening[]
}

/** Reads bindings, devices and events of some serials in one snapshot. */
export function readStories(sql: postgres.Sql, serials: string[]): Promise<SerialStory[]> {
  const read = async (snapshot: postgres.TransactionSql) => {
    const bindings = await snapshot`
      select device_no, app_id, bound_at, unbound_at, id from past_binding where device_no in ${snapshot(serials)}
      union all
      select device_no, app_id, greatest(bound_at, (select max(unbound_at) from past_binding p
        where p.device_no = b.device_no)), null, null
      from device_binding b where device_no in ${snapshot(serials)}
      order by id nulls last`
    const events = await snapshot`
      select subject, type, app_id, time, data from event
      where subject in ${snapshot(serials)} and type in ('device.bound', 'device.unbound', 'device.transferred')
      order by id`
    return serials.map((deviceNo) => ({
      deviceNo,
      bindings: bindings
        .filter((row) => row.device_no === deviceNo)
        .map((row) => ({
          appId: row.app_id as string,
          boundAt: (row.bound_at as Date).getTime(),
          unboundAt: (row.unbound_at as Date | null)?.getTime() ?? null,
        })),
      happenings: events
        .filter((row) => row.subject === deviceNo)
        .map((row) => ({
          type: row.type as string,
          appId: row.app_id as string,
          at: (row.time as Date).getTime(),
          recordOf: JSON.parse(row.data).appId as string | null,
        })),
    }))
  }
  return sql.begin('isolation level repeatable read', read) as Promise<SerialStory[]>
}

/**
 * The contradictions in a serial's history. Bindings must follow each other without overlaps, and each application's
 * events, in order, must report its own bindings and nothing else. A create gets its time before it waits for the
 * serial, so its event can be older than the end of the previous binding; the new binding begins at that end.
 */
export function contradictionsIn({ deviceNo, bindings, happenings }: SerialStory): string[] {
  const wrong: string[] = []
  const logs = new Map<string, Happening[]>()
  for (const one of happenings) logs.set(one.appId, [...(logs.get(one.appId) ?? []), one])
  let lastEnd = 0
  let given: Happening | undefined
  for (const { appId, boundAt, unboundAt } of bindings) {
    const begin = logs.get(appId)?.shift()
    const isTransfer = begin?.type === 'device.transferred'
    if (!isTransfer && begin?.type !== 'device.bound') wrong.push(`${appId} begins by ${begin?.type}`)
    if (begin?.recordOf !== appId) wrong.push(`${appId} is told the record of ${begin?.recordOf}`)
    if (isTransfer !== (given !== undefined) || (given !== undefined && begin?.at !== given.at)) {
      wrong.push(`half a transfer: ${begin?.type}`)
    }
    if (boundAt !== Math.max(begin?.at ?? 0, lastEnd)) wrong.push(`${appId} begins at ${boundAt}, told ${begin?.at}`)
    given = undefined
    if (unboundAt === null) continue
    if (unboundAt < boundAt) wrong.push('a binding ends before it begins')
    const end = logs.get(appId)?.shift()
    // In a transfer, the former owner's event has a record without an owner, because that application may not learn the
    // new one.
    if (end?.type === 'device.transferred' && end.recordOf === null) given = end
    else if (end?.type !== 'device.unbound' || end.recordOf !== appId) wrong.push(`${appId} ends by ${end?.type}`)
    if (end?.at !== unboundAt) wrong.push(`${appId} ends at ${unboundAt}, told ${end?.at}`)
    lastEnd = unboundAt
  }
  if (given !== undefined) wrong.push(`transferred from ${given.appId} to nobody`)
  for (const [appId, left] of logs) for (const { type } of left) wrong.push(`${appId} is told of ${type} too much`)
  const lasting = bindings.findIndex(({ unboundAt }) => unboundAt === null)
  if (lasting !== -1 && lasting !== bindings.length - 1) wrong.push('two hold it')
  return wrong.map((words) => `${deviceNo}: ${words}`)
}

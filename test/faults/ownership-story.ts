import type postgres from 'postgres'

/** A spell of ownership in milliseconds; the one that lasts has no end. */
interface Spell {
  appId: string
  boundAt: number
  unboundAt: number | null
}

interface Happening {
  type: string
  appId: string
  at: number
  /** Whose the device is by the event's record. */
  recordOf: string | null
}

/** What the database holds of one serial, at one moment. */
export interface SerialStory {
  deviceNo: string
  /** Ended ones first, then the one that lasts. */
  spells: Spell[]
  happenings: Happening[]
}

/** Reads all that is known of some serials, all of one moment. */
export function readStories(sql: postgres.Sql, serials: string[]): Promise<SerialStory[]> {
  const read = async (snapshot: postgres.TransactionSql) => {
    const spells = await snapshot`
      select device_no, app_id, bound_at, unbound_at, id from device_spell where device_no in ${snapshot(serials)}
      union all
      select device_no, app_id, greatest(bound_at, (select max(unbound_at) from device_spell s
        where s.device_no = device.device_no)), null, null
      from device where device_no in ${snapshot(serials)}
      order by id nulls last`
    const events = await snapshot`
      select subject, type, app_id, time, data from event
      where subject in ${snapshot(serials)} and type in ('device.bound', 'device.unbound', 'device.transferred')
      order by id`
    return serials.map((deviceNo) => ({
      deviceNo,
      spells: spells
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
 * What is wrong with a story: its events must tell its spells, one after another, and no two spells may overlap. A
 * create is composed before it waits for the serial, so its event can be older than the end of the spell before; the
 * spell begins where that one ends.
 */
export function contradictionsIn({ deviceNo, spells, happenings }: SerialStory): string[] {
  const wrong: string[] = []
  const told: Spell[] = []
  let given: Happening | undefined
  for (const one of happenings) {
    const { type, appId, at, recordOf } = one
    const lasting = told.find(({ unboundAt }) => unboundAt === null)
    const begins = type === 'device.bound' || given !== undefined
    // To the former owner a device that was transferred is nobody's whom it could know.
    const owner = type === 'device.transferred' && !begins ? null : appId
    if (recordOf !== owner) wrong.push(`${type} of ${appId} carries the record of ${recordOf}`)
    if (begins && lasting !== undefined) wrong.push(`${type} of ${appId} while ${lasting.appId} holds it`)
    if (!begins && lasting?.appId !== appId) wrong.push(`${type} of ${appId} while ${lasting?.appId} holds it`)
    if (given !== undefined && (type !== 'device.transferred' || at !== given.at))
      wrong.push(`half a transfer: ${type}`)
    if (begins) told.push({ appId, boundAt: Math.max(at, told.at(-1)?.unboundAt ?? 0), unboundAt: null })
    else if (lasting !== undefined) lasting.unboundAt = at
    given = type === 'device.transferred' && !begins ? one : undefined
  }
  if (given !== undefined) wrong.push(`transferred from ${given.appId} to nobody`)
  if (JSON.stringify(told) !== JSON.stringify(spells)) {
    wrong.push(`the events tell ${JSON.stringify(told)}, but there are ${JSON.stringify(spells)}`)
  }
  for (const { boundAt, unboundAt } of spells) {
    if (unboundAt !== null && unboundAt < boundAt) wrong.push('a spell ends before it begins')
  }
  return wrong.map((words) => `${deviceNo}: ${words}`)
}

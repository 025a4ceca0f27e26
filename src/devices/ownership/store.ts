import type { Row } from 'postgres'
import type { Statements } from '../../database/open.ts'
import { ofApplications } from '../../database/page.ts'
import { textArray } from '../../database/routine.ts'
import { readActor } from '../../events/rules.ts'
import { groupBy } from '../../vocabulary/group-by.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import { deviceColumns, deviceTypes, memberOf } from '../columns.ts'
import type { Placement } from '../placement/rules.ts'
import { findLasting, writePlacements } from '../placement/store.ts'
import { compareSerials, type Device } from '../rules.ts'
import { findBound } from '../store.ts'
import type { Binding } from './contract.ts'

const presenceColumns = ['reported_at', 'seen_at', 'offline_since', 'faulty_since'] as const

type Presence = Record<(typeof presenceColumns)[number], string | null>

export interface OwnedDevice {
  device: Device
  heldSince: Date
  placement: Placement | null
  presence: Presence | null
}

export interface MovedDevice extends OwnedDevice {
  target: string | null
  actor: string
  reason: string | null
  unboundAt: Date
  over: Placement | null
}

/**
 * Reads the locked applications' devices with these serials, and which serials others have. On a cluster, bindings lie
 * on other nodes than devices.
 */
export async function readOwned(
  tx: Statements,
  serials: readonly string[],
  locked: readonly string[],
): Promise<{ devices: Map<string, OwnedDevice>; elsewhere: ReadonlySet<string> }> {
  const bindings = await tx.unsafe<Row[]>(
    `select device_no, app_id, bound_at,
      (select max(unbound_at) from past_binding p where p.device_no = b.device_no) as last_end
    from device_binding b where device_no = any($1::text[])`,
    [textArray(serials)],
    { prepare: true },
  )
  const owned = bindings.filter(({ app_id }) => locked.includes(app_id))
  const found = [...groupBy(owned, ({ app_id }) => app_id as string)].map(([appId, its]) =>
    readOwnedOf(
      tx,
      appId,
      its.toSorted((a, b) => compareSerials(a.device_no, b.device_no)),
    ),
  )
  const elsewhere = bindings.filter((binding) => !owned.includes(binding)).map(({ device_no }) => device_no)
  return { devices: new Map((await Promise.all(found)).flat()), elsewhere: new Set(elsewhere) }
}

async function readOwnedOf(tx: Statements, appId: string, bindings: readonly Row[]) {
  const serials = bindings.map(({ device_no }) => device_no)
  const [devices, placements, presences] = await Promise.all([
    findBound(tx, appId, bindings),
    findLasting(tx, appId, serials),
    lockPresence(tx, appId, serials),
  ])
  return bindings.flatMap(({ device_no: serial, bound_at: boundAt, last_end: lastEnd }): [string, OwnedDevice][] => {
    const device = devices.get(serial)
    if (device === undefined) return []
    const heldSince = lastEnd !== null && lastEnd > boundAt ? lastEnd : boundAt
    const [placement = null, presence = null] = [placements.get(serial), presences.get(serial)]
    return [[serial, { device, heldSince, placement, presence }]]
  })
}

/** Locks and reads report times, in the order of every writer: they are also written without the application's lock. */
async function lockPresence(tx: Statements, appId: string, serials: readonly string[]) {
  const rows = await tx.unsafe<(Presence & { device_no: string })[]>(
    `select p.* from unnest($2::text[]) as i (device_no) cross join lateral (
      select device_no, ${presenceColumns.map((column) => `${column}::text as ${column}`).join(', ')} from device_presence
      where app_id = $1 and device_no = i.device_no for update) as p`,
    [appId, textArray(serials)],
    { prepare: true },
  )
  return new Map(rows.map((row) => [row.device_no, row]))
}

/** Saves past bindings, placements, devices, presence and bindings, in this order. Needs all owners' locks. */
export async function saveOwners(tx: Statements, moved: readonly MovedDevice[], now: Date): Promise<void> {
  const transfers = moved.filter(({ target }) => target !== null)
  const unbound = moved.filter(({ target }) => target === null)
  await Promise.all([
    insertPastBindings(tx, moved),
    writePlacements(
      tx,
      moved.flatMap(({ over }) => over ?? []),
    ),
    ...ofEach(
      transfers,
      ({ target }) => target as string,
      (target, its) => insertMoved(tx, target, its, now),
    ),
    ...ofEach(moved, momentOf, (_, its) => deleteDevices(tx, its)),
    ...ofEach(
      moved.filter(({ presence }) => presence !== null),
      ({ device }) => device.appId,
      (appId, its) => tx.unsafe(deletePresenceSql, [appId, serialsOf(its)], { prepare: true }),
    ),
    ...ofEach(
      transfers,
      ({ target }) => target as string,
      (target, its) => tx.unsafe(moveBindingsSql, [serialsOf(its), target, now.toISOString()], { prepare: true }),
    ),
    unbound.length > 0 && tx.unsafe(deleteBindingsSql, [serialsOf(unbound)], { prepare: true }),
  ])
}

const serialsOf = (moved: readonly MovedDevice[]) => textArray(moved.map(({ device }) => device.deviceNo))

const ofEach = <Result>(
  moved: readonly MovedDevice[],
  ownerOf: (one: MovedDevice) => string,
  run: (owner: string, its: MovedDevice[]) => Promise<Result>,
) => [...groupBy(moved, ownerOf)].map(([owner, its]) => run(owner, its))

const deleteDevicesSql =
  'delete from device where app_id = $1 and bound_at = $2::timestamptz and device_no = any($3::text[])'
const deletePresenceSql = 'delete from device_presence where app_id = $1 and device_no = any($2::text[])'
const deleteBindingsSql = 'delete from device_binding where device_no = any($1::text[])'
const moveBindingsSql =
  'update device_binding set app_id = $2, bound_at = $3::timestamptz where device_no = any($1::text[])'

const momentOf = ({ device }: MovedDevice) => `${device.appId} ${device.boundAt.getTime()}`

/** Deletes devices bound at one time. For several, a plan made on a small table would read all of it later. */
async function deleteDevices(tx: Statements, moved: readonly MovedDevice[]): Promise<void> {
  const [{ device }] = moved as [MovedDevice]
  await tx.unsafe(deleteDevicesSql, [device.appId, device.boundAt.toISOString(), serialsOf(moved)], { prepare: true })
}

async function insertPastBindings(tx: Statements, moved: readonly MovedDevice[]): Promise<void> {
  const listed = (read: (one: MovedDevice) => string | null) => textArray(moved.map(read))
  await tx.unsafe(
    `insert into past_binding (device_no, app_id, bound_at, unbound_at, unbound_by, reason)
    select * from unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::text[])`,
    [
      listed(({ device }) => device.deviceNo),
      listed(({ device }) => device.appId),
      listed(({ heldSince }) => heldSince.toISOString()),
      listed(({ unboundAt }) => unboundAt.toISOString()),
      listed(({ actor }) => actor),
      listed(({ reason }) => reason),
    ],
    { prepare: true },
  )
}

const movedColumns = deviceColumns.filter((column) => !['app_id', 'bound_at'].includes(column))
const insertMovedSql = `insert into device (app_id, bound_at, ${movedColumns.join(', ')})
  select $1, $2::timestamptz, ${movedColumns.join(', ')}
  from json_to_recordset($3::text::json) as i (${movedColumns.map((column) => `${column} ${deviceTypes[column]}`).join(', ')})`
const insertPresenceSql = `insert into device_presence (app_id, device_no, ${presenceColumns.join(', ')})
  select $1, i.* from unnest($2::text[], ${presenceColumns.map((_, at) => `$${at + 3}::timestamptz[]`).join(', ')}) as i`

async function insertMoved(tx: Statements, target: string, moved: readonly MovedDevice[], now: Date): Promise<void> {
  const toRow = ({ device }: MovedDevice) =>
    Object.fromEntries(movedColumns.map((column) => [column, device[memberOf[column] as keyof Device]]))
  const reported = moved.flatMap(({ device, presence }) => (presence ? [{ ...presence, serial: device.deviceNo }] : []))
  const listed = (member: 'serial' | keyof Presence) => textArray(reported.map((one) => one[member]))
  await Promise.all([
    tx.unsafe(insertMovedSql, [target, now.toISOString(), JSON.stringify(moved.map(toRow))], { prepare: true }),
    reported.length > 0 &&
      tx.unsafe(insertPresenceSql, [target, listed('serial'), ...presenceColumns.map(listed)], {
        prepare: true,
      }),
  ])
}

export async function findOnlineStatus(sql: Statements, appIds: readonly string[]): Promise<Map<string, number>> {
  if (appIds.length === 0) return new Map()
  const statement = 'select app_id, online_status from application where app_id = any($1::text[])'
  const rows = await sql.unsafe(statement, [textArray([...new Set(appIds)])], { prepare: true })
  return new Map(rows.map((row) => [row.app_id, row.online_status]))
}

/**
 * SQL: when the serial's last past binding ended. A create is composed before it waits for the serial, so its
 * `bound_at` can be earlier than that; the history then shows the later time.
 */
const lastEndSql = (sql: Statements, deviceNo: string) => sql`
  (select unbound_at from past_binding where device_no = ${deviceNo} order by id desc limit 1)`

/** Returns the serial's bindings, newest first, including the current one; `appIds: null` means all. */
export async function findBindings(
  sql: Statements,
  deviceNo: string,
  appIds: readonly string[] | null,
): Promise<Binding[]> {
  const rows = await sql`
    select app_id, greatest(bound_at, ${lastEndSql(sql, deviceNo)}) as bound_at, null::timestamptz as unbound_at,
      null as unbound_by, null as reason, null::bigint as id
    from device_binding where device_no = ${deviceNo} and ${ofApplications(sql, appIds)}
    union all
    select app_id, bound_at, unbound_at, unbound_by, reason, id
    from past_binding where device_no = ${deviceNo} and ${ofApplications(sql, appIds)}
    order by id desc nulls first
    limit 1000`
  return rows.map((row: Row) => ({
    appId: row.app_id,
    boundAt: showMoment(row.bound_at),
    unboundAt: row.unbound_at === null ? null : showMoment(row.unbound_at),
    unboundBy: row.unbound_by === null ? null : readActor(row.unbound_by).actor,
    reason: row.reason,
  }))
}

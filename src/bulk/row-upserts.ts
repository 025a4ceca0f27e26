import type { Context } from '../context.ts'
import { DeviceBatchRow, type DeviceUpdate } from '../devices/contract.ts'
import { deviceBatches } from '../devices/lane.ts'
import type { Catalogue } from '../devices/models/catalogue.ts'
import type { PlacementBatchRow, PlacementUpsertRow } from '../devices/placement/contract.ts'
import { placing, replacing } from '../devices/placement/rules.ts'
import { placementChanges } from '../devices/placement/writes.ts'
import type { Device } from '../devices/rules.ts'
import { findHolders } from '../devices/store.ts'
import { deviceUpdates } from '../devices/writes.ts'
import { validator } from '../http/validate.ts'
import { SiteBatchRow, type SiteUpdate } from '../sites/contract.ts'
import { siteUpdates } from '../sites/writes.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { carryOut, type Decided, tryAgain, type Write } from '../writes/kind.ts'
import {
  type DecideRows,
  type DeviceRow,
  type RowOutcome,
  rowOutcome,
  type SiteRow,
  type siteWriter,
  type Writer,
  writeDevices,
} from './row-writers.ts'

const asWrite = <Body>(body: Body, { appId, actor }: Writer): Write<Body> => ({ appId, body, actor, ifMatch: null })

/** Makes a reader that returns the refusal of a row which lacks what a create needs. */
function reader<Row>(read: (row: unknown) => Row): (row: unknown) => Row | Refusal {
  return (row) => {
    try {
      return read(row)
    } catch (error) {
      if (error instanceof Refusal) return error
      throw error
    }
  }
}

const readNewDevice = reader(validator(DeviceBatchRow, 'row', undefined))
const readNewSite = reader(validator(SiteBatchRow, 'row', undefined))

/** Decides device rows: updates known serials, creates new ones. */
export function deviceUpserter(context: Pick<Context, 'sql' | 'config' | 'metrics'>, catalogue: Catalogue) {
  const compose = deviceBatches(context, catalogue)
  return async (rows: readonly DeviceUpdate[], writer: Writer): Promise<DecideRows> => {
    const { appId, actor, isDryRun } = writer
    const serials = new Set(rows.map(({ deviceNo }) => deviceNo))
    // Before the lock, so that only new devices are composed. If a device is created or removed in between, all is
    // retried.
    const holders = await findHolders(context.sql, [...serials])
    const { news, faults } = newDevices(rows, (serial) => holders.get(serial) === appId)
    const bodies = [...news.values()].map(({ row }) => ({ body: { ...row, appId }, actor, idempotency: undefined }))
    const batch = await compose(bodies)
    return async (tx) => {
      const created = bodies.length === 0 ? [] : await writeDevices(tx, batch, isDryRun)
      const refusals = new Map<string, Refusal>()
      const made: Device[] = []
      for (const [index, device] of batch.devices.entries()) {
        const outcome = created[index]
        if (outcome !== undefined && 'refusal' in outcome) refusals.set(device.deviceNo, outcome.refusal)
        else made.push(device)
      }
      const outcomes = rows.map(({ deviceNo: key }, place): RowOutcome | undefined => {
        const refusal = faults.get(place) ?? refusals.get(key)
        if (refusal !== undefined) return { refusal }
        return news.get(key)?.place === place ? { outcome: 'created', key } : undefined
      })
      const due = [...rows.keys()].filter((place) => outcomes[place] === undefined)
      const writes = due.map((place) => asWrite(rows[place] as DeviceUpdate, writer))
      const decisions = await carryOut(tx, deviceUpdates, writes, [appId], isDryRun, (known) => {
        if (isDryRun) for (const device of made) known.get(appId)?.set(device.deviceNo, device)
      })
      for (const [index, place] of due.entries()) {
        outcomes[place] = rowOutcome(decisions[index] as Decided<Device>, (rows[place] as DeviceUpdate).deviceNo)
      }
      return (outcomes as RowOutcome[]).map(requireTrue)
    }
  }
}

/** Throws `tryAgain` if a device was created or removed since the look-up. */
function requireTrue(outcome: RowOutcome): RowOutcome {
  if (!('refusal' in outcome)) return outcome
  if (['deviceAlreadyYours', 'deviceNotFound'].includes(outcome.refusal.refusal))
    throw tryAgain('a device was created or removed')
  return outcome
}

function newDevices(rows: readonly DeviceUpdate[], isThere: (serial: string) => boolean) {
  const news = new Map<string, { place: number; row: DeviceRow }>()
  const faults = new Map<number, Refusal>()
  for (const [place, row] of rows.entries()) {
    if (isThere(row.deviceNo) || news.has(row.deviceNo)) continue
    const read = readNewDevice(row)
    if (read instanceof Refusal) faults.set(place, read)
    else news.set(row.deviceNo, { place, row: read })
  }
  return { news, faults }
}

/** Decides placement rows. Both modes move a device from another site; only `upsert` reports which it was. */
export function placementDeciders() {
  const decider =
    (isUpsert: boolean) =>
    async (rows: readonly PlacementUpsertRow[], writer: Writer): Promise<DecideRows> => {
      const changeOf = (row: PlacementUpsertRow) => (isUpsert ? replacing(row) : placing(row as PlacementBatchRow))
      const writes = rows.map((row) => asWrite(changeOf(row), writer))
      return async (tx) => {
        const decisions = await carryOut(tx, placementChanges, writes, [writer.appId], writer.isDryRun)
        return decisions.map((decision, index) => {
          const outcome = rowOutcome(decision, writes[index]?.body.deviceNo ?? '')
          const isMove = 'outcome' in outcome && outcome.outcome === 'updated'
          return isMove && !isUpsert ? { ...outcome, outcome: 'created' } : outcome
        })
      }
    }
  return { create: decider(false), upsert: decider(true) }
}

type SiteUpsert = Omit<SiteUpdate, 'id'> & { id?: number | null | '' }

/** Decides site rows: a row with an ID updates its site, `create` decides the others. */
export function siteUpserter(create: ReturnType<typeof siteWriter>) {
  return async (rows: readonly SiteUpsert[], writer: Writer): Promise<DecideRows> => {
    const read = rows.map((row) => (given(row.id) === null ? readNewSite(row) : (row as SiteUpdate)))
    const isUpdate = (place: number) => given(rows[place]?.id) !== null
    const places = [...rows.keys()]
    const due = places.filter(isUpdate)
    const news = places.filter((place) => !isUpdate(place) && !(read[place] instanceof Refusal))
    const decideNews = await create(
      news.map((place) => read[place] as SiteRow),
      writer,
    )
    return async (tx) => {
      const writes = due.map((place) => asWrite(read[place] as SiteUpdate, writer))
      const changed = await carryOut(tx, siteUpdates, writes, [writer.appId], writer.isDryRun)
      const made = news.length === 0 ? [] : await decideNews(tx)
      const outcomes = new Map<number, RowOutcome>()
      for (const [index, decision] of changed.entries()) {
        outcomes.set(due[index] as number, rowOutcome(decision, writes[index]?.body.id ?? null))
      }
      for (const [index, place] of news.entries()) outcomes.set(place, made[index] as RowOutcome)
      return places.map((place) => outcomes.get(place) ?? { refusal: read[place] as Refusal })
    }
  }
}

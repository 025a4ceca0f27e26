import type { ApplyChanges, Change, ChangeOutcome } from '../callers/change-lane.ts'
import type { Sql, Statements } from '../database/open.ts'
import { changeDevices, planDeviceChanges } from '../devices/changes.ts'
import { DeviceBatchRow, type DeviceUpdate } from '../devices/contract.ts'
import { deviceBatches } from '../devices/lane.ts'
import type { PlacementBatchRow, PlacementUpsertRow } from '../devices/placement/contract.ts'
import { changePlacements, type PlacementOutcome, planPlacements } from '../devices/placement/lane.ts'
import { type PlacementChange, placing, replacing } from '../devices/placement/rules.ts'
import { type Device, membersOf } from '../devices/rules.ts'
import { findDevices, findHolders } from '../devices/store.ts'
import { validator } from '../http/validate.ts'
import { changeSites, planSiteChanges } from '../sites/changes.ts'
import { SiteBatchRow, type SiteUpdate } from '../sites/contract.ts'
import type { Site } from '../sites/rules.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { TryAgain } from './jobs/worker.ts'
import {
  type DecideRows,
  type DeviceRow,
  type RowOutcome,
  type RowParts,
  registrationPredictor,
  type SiteRow,
  type siteWriter,
  type Writer,
  writeAll,
} from './row-writers.ts'

// How an import writes rows that may be there already: as single updates and creates do.

const asChange = <Body>(body: Body, { actor }: Writer): Change<Body> => ({ body, actor, ifMatch: null })

function changedOutcome<Item>(outcome: ChangeOutcome<Item>, key: string | number): RowOutcome {
  return 'refusal' in outcome ? outcome : { outcome: outcome.isChanged ? 'updated' : 'existing', key }
}

/** Reads rows that are to be created; a row that lacks what a create needs is its refusal. */
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

/**
 * Creates devices, or predicts it in a dry run. Returns for each row its refusal, or undefined. The rows are composed
 * before the transaction.
 */
type CreateDevices = (
  rows: readonly DeviceRow[],
  writer: Writer,
) => Promise<(tx: Statements) => Promise<(Refusal | undefined)[]>>

/**
 * Changes existing devices, or predicts it in a dry run. `made` holds the devices that the transaction has created, or
 * in a dry run would have created.
 */
type ChangeDevices = (
  tx: Statements,
  appId: string,
  changes: readonly Change<DeviceUpdate>[],
  made: ReadonlyMap<string, DeviceRow>,
) => Promise<ChangeOutcome<Device>[]>

function creator(parts: RowParts): CreateDevices {
  const compose = deviceBatches(parts)
  return async (rows, { appId, actor }) => {
    if (rows.length === 0) return async () => []
    const write = await compose(rows.map((row) => ({ body: { ...row, appId }, actor, idempotency: undefined })))
    return async (tx) => {
      const outcomes = await writeAll(tx, write)
      return outcomes.map((outcome) => ('refusal' in outcome ? outcome.refusal : undefined))
    }
  }
}

/**
 * The devices that a dry run treats as created. They have only the members of a registration, which are enough to
 * predict an update.
 */
const madeDevices = (made: ReadonlyMap<string, DeviceRow>, appId: string) =>
  [...made].map(([serial, row]) => [serial, membersOf({ ...row, appId }, new Date()) as Device] as const)

/**
 * Makes the function that decides rows of devices by their serials: an existing device is updated, a new one created.
 */
export function deviceUpserter(parts: RowParts & { sql: Sql }) {
  const { sql, showMoment } = parts
  const write: ChangeDevices = (tx, appId, changes) => changeDevices(tx, appId, changes, showMoment)
  const predict: ChangeDevices = async (tx, appId, changes, made) => {
    const there = await findDevices(tx, appId, [...new Set(changes.map(({ body }) => body.deviceNo))])
    return planDeviceChanges(new Map([...there, ...madeDevices(made, appId)]), changes).outcomes
  }
  return {
    write: upserter(sql, creator(parts), write),
    predict: upserter(sql, registrationPredictor(parts), predict),
  }
}

function upserter(sql: Sql, create: CreateDevices, change: ChangeDevices) {
  return async (rows: readonly DeviceUpdate[], writer: Writer): Promise<DecideRows> => {
    const { appId } = writer
    const serials = new Set(rows.map(({ deviceNo }) => deviceNo))
    // Looked up before the application's lock is taken, so that only new devices are composed. If a device was created
    // or removed in between, everything is tried again.
    const holders = await findHolders(sql, [...serials])
    const { news, faults } = newDevices(rows, (serial) => holders.get(serial) === appId)
    const createNews = await create(
      [...news.values()].map(({ row }) => row),
      writer,
    )
    return async (tx) => {
      const refusals = new Map<string, Refusal>()
      const made = new Map<string, DeviceRow>()
      const created = await createNews(tx)
      for (const [index, [serial, { row }]] of [...news].entries()) {
        const refusal = created[index]
        if (refusal === undefined) made.set(serial, row)
        else refusals.set(serial, refusal)
      }
      const outcomes = rows.map(({ deviceNo: key }, place): RowOutcome | undefined => {
        const refusal = faults.get(place) ?? refusals.get(key)
        if (refusal !== undefined) return { refusal }
        return news.get(key)?.place === place ? { outcome: 'created', key } : undefined
      })
      const due = [...rows.keys()].filter((place) => outcomes[place] === undefined)
      const changes = due.map((place) => asChange(rows[place] as DeviceUpdate, writer))
      const changed = changes.length === 0 ? [] : await change(tx, appId, changes, made)
      for (const [index, place] of due.entries()) {
        outcomes[place] = changedOutcome(
          changed[index] as ChangeOutcome<Device>,
          (rows[place] as DeviceUpdate).deviceNo,
        )
      }
      return (outcomes as RowOutcome[]).map(requireTrue)
    }
  }
}

/** Throws `TryAgain` if a device was created or removed after the look-up. */
function requireTrue(outcome: RowOutcome): RowOutcome {
  if (!('refusal' in outcome)) return outcome
  if (['deviceAlreadyYours', 'deviceNotFound'].includes(outcome.refusal.refusal)) throw new TryAgain()
  return outcome
}

/** The first valid row of each device that does not exist yet, and the faults of the invalid rows before it. */
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

type PlaceDevices = (
  tx: Statements,
  appId: string,
  changes: readonly Change<PlacementChange>[],
) => Promise<PlacementOutcome[]>

function placedOutcome(outcome: PlacementOutcome, key: string, isUpsert: boolean): RowOutcome {
  if ('refusal' in outcome) return outcome
  if (!outcome.isChanged) return { outcome: 'existing', key }
  return { outcome: isUpsert && outcome.wasPlaced ? 'updated' : 'created', key }
}

/**
 * Makes the functions that decide rows of placements. Both modes move a device that is placed elsewhere, as the single
 * operation does; only `upsert` reports whether a device was moved or placed for the first time.
 */
export function placementDeciders({ showMoment }: RowParts) {
  const decider =
    (isUpsert: boolean, place: PlaceDevices) =>
    async (rows: readonly PlacementUpsertRow[], writer: Writer): Promise<DecideRows> => {
      const changeOf = (row: PlacementUpsertRow) => (isUpsert ? replacing(row) : placing(row as PlacementBatchRow))
      const changes = rows.map((row) => asChange(changeOf(row), writer))
      return async (tx) => {
        if (changes.length === 0) return []
        const outcomes = await place(tx, writer.appId, changes)
        return outcomes.map((outcome, index) => placedOutcome(outcome, changes[index]?.body.deviceNo ?? '', isUpsert))
      }
    }
  const write: PlaceDevices = (tx, appId, changes) => changePlacements(tx, appId, changes, showMoment)
  const predict: PlaceDevices = async (tx, appId, changes) => (await planPlacements(tx, appId, changes)).outcomes
  const ofMode = (isUpsert: boolean) => ({ write: decider(isUpsert, write), predict: decider(isUpsert, predict) })
  return { create: ofMode(false), upsert: ofMode(true) }
}

type SiteUpsert = Omit<SiteUpdate, 'id'> & { id?: number | null | '' }

export const writtenSites =
  ({ showMoment }: RowParts): ApplyChanges<SiteUpdate, Site> =>
  (tx, appId, changes) =>
    changeSites(tx, appId, changes, showMoment)

export const predictedSites =
  ({ showMoment }: RowParts): ApplyChanges<SiteUpdate, Site> =>
  async (tx, appId, changes) =>
    (await planSiteChanges(tx, appId, changes, showMoment)).outcomes

/** Makes the function that decides rows of sites: a row with an id updates its site; `create` decides the others. */
export function siteUpserter(create: ReturnType<typeof siteWriter>, change: ApplyChanges<SiteUpdate, Site>) {
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
      const changes = due.map((place) => asChange(read[place] as SiteUpdate, writer))
      const changed = changes.length === 0 ? [] : await change(tx, writer.appId, changes)
      const made = news.length === 0 ? [] : await decideNews(tx)
      const outcomes = new Map<number, RowOutcome>()
      for (const [index, place] of due.entries()) {
        outcomes.set(place, changedOutcome(changed[index] as ChangeOutcome<Site>, (read[place] as SiteUpdate).id))
      }
      for (const [index, place] of news.entries()) outcomes.set(place, made[index] as RowOutcome)
      return places.map((place) => outcomes.get(place) ?? { refusal: read[place] as Refusal })
    }
  }
}

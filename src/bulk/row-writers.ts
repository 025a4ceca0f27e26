import { isOnline } from '../applications/store.ts'
import { hasConfiguration } from '../applications/third-party-config/store.ts'
import type { Caller } from '../callers/caller.ts'
import type { LaneOutcome } from '../callers/submitter.ts'
import type { Config } from '../config.ts'
import type { Statements } from '../database/open.ts'
import { type DeviceRegistration, defaultCityCode, defaultProvinceCode } from '../devices/contract.ts'
import { findInventory, unknownModelNames, upsertInventory } from '../devices/inventory/store.ts'
import { deviceBatches, type WriteBatch } from '../devices/lane.ts'
import type { Catalogue } from '../devices/models/catalogue.ts'
import { holdCatalogue } from '../devices/models/store.ts'
import type { RegistrationOutcome as Outcome } from '../devices/routine.ts'
import { findDevices, findHolders } from '../devices/store.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { ruleChecker } from '../sites/changes.ts'
import type { SiteRegistration } from '../sites/contract.ts'
import { writeSites } from '../sites/lane.ts'
import { readSite } from '../sites/rules.ts'
import { findEqualSites } from '../sites/store.ts'
import type { ShowMoment } from '../vocabulary/moments.ts'
import { invalidRequest, Refusal } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { TryAgain } from './jobs/worker.ts'

// How an import writes rows of each kind: as single creates do, except that an existing row with the same content is no
// refusal.

/** The outcome of a row: the record that was created or found, or the refusal. */
export type RowOutcome = { outcome: 'created' | 'updated' | 'existing'; key: string | number } | { refusal: Refusal }

/** The caller in whose name rows are written. */
export interface Writer {
  appId: string
  actor: string
}

/** Decides rows within a transaction that holds the application's lock; one outcome a row, in order. */
export type DecideRows = (tx: Statements) => Promise<RowOutcome[]>

export interface RowParts {
  catalogue: Catalogue
  metrics: Metrics
  config: Pick<Config, 'inventoryPolicy'>
  showMoment: ShowMoment
}

/** A portion checks once, for all its rows, that who began the import still has access. */
const accessWasChecked: readonly Caller[] = []

export type DeviceRow = Omit<DeviceRegistration, 'appId'>

/** The content of a row about its device; a device that exists already must have the same. */
export function contentOf(row: DeviceRow): string {
  const { deviceName, tag, provinceCode, cityCode, districtCode, detailAddress, coordinates } = row
  const codes = [given(provinceCode) ?? defaultProvinceCode, given(cityCode) ?? defaultCityCode, districtCode]
  return JSON.stringify([deviceName, given(tag), ...codes, given(detailAddress), coordinates])
}

export function deviceWriter(parts: RowParts) {
  const compose = deviceBatches(parts)
  return async (rows: readonly DeviceRow[], { appId, actor }: Writer): Promise<DecideRows> => {
    const firsts = firstOf(rows, ({ deviceNo }) => deviceNo)
    const batch = [...firsts.values()].map((row) => ({
      body: { ...row, appId },
      actor,
      idempotency: undefined,
    }))
    const write = await compose(batch)
    return async (tx) => {
      const written = new Map<string, Outcome>()
      const outcomes = await writeAll(tx, write)
      for (const [place, serial] of [...firsts.keys()].entries()) written.set(serial, outcomes[place] as Outcome)
      const held = [...written].flatMap(([serial, outcome]) => (isAlreadyYours(outcome) ? [serial] : []))
      const contents = await contentsOf(tx, appId, held)
      return rows.map((row): RowOutcome => {
        const { deviceNo: key } = row
        const first = firsts.get(key) as DeviceRow
        const outcome = written.get(key) as Outcome
        if ('record' in outcome && row === first) return { outcome: 'created', key }
        if ('refusal' in outcome && !isAlreadyYours(outcome)) return { refusal: outcome.refusal }
        return sameOrRefused(row, contents.get(key) ?? contentOf(first))
      })
    }
  }
}

function firstOf<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row> {
  const firsts = new Map<string, Row>()
  for (const row of rows) if (!firsts.has(keyOf(row))) firsts.set(keyOf(row), row)
  return firsts
}

export async function writeAll(tx: Statements, write: WriteBatch): Promise<Outcome[]> {
  const outcomes = await write(tx, accessWasChecked)
  if (outcomes.some((outcome) => 'again' in outcome || 'revoked' in outcome)) throw new TryAgain()
  return outcomes
}

const isAlreadyYours = (outcome: Outcome) => 'refusal' in outcome && outcome.refusal.refusal === 'deviceAlreadyYours'

/**
 * Makes the function that predicts for each row why its device could not be created; undefined for a row that could.
 */
export function registrationPredictor({ catalogue, config }: RowParts) {
  return async (rows: readonly DeviceRow[], { appId }: Writer) => {
    const serials = rows.map(({ deviceNo }) => deviceNo)
    const lookup = await catalogue.lookUp(serials)
    const isUnknown = (serial: string) => config.inventoryPolicy === 'required' && !lookup.isInInventory(serial)
    return async (tx: Statements): Promise<(Refusal | undefined)[]> => {
      if (!(await isOnline(tx, appId))) return rows.map(() => new Refusal('applicationOffline'))
      const holders = await findHolders(tx, serials)
      return serials.map((serial) => {
        const holder = holders.get(serial)
        if (holder !== undefined) return new Refusal(holder === appId ? 'deviceAlreadyYours' : 'deviceBoundElsewhere')
        return isUnknown(serial) ? new Refusal('deviceUnknown') : undefined
      })
    }
  }
}

export function devicePredictor(parts: RowParts) {
  const predict = registrationPredictor(parts)
  return async (rows: readonly DeviceRow[], writer: Writer): Promise<DecideRows> => {
    const refusalsOf = await predict(rows, writer)
    return async (tx) => {
      const refusals = await refusalsOf(tx)
      const own = rows.flatMap(({ deviceNo }, place) =>
        refusals[place]?.refusal === 'deviceAlreadyYours' ? [deviceNo] : [],
      )
      const contents = await contentsOf(tx, writer.appId, own)
      return rows.map((row, place): RowOutcome => {
        const { deviceNo: key } = row
        const there = contents.get(key)
        if (there !== undefined) return sameOrRefused(row, there)
        const refusal = refusals[place]
        if (refusal !== undefined) return { refusal }
        contents.set(key, contentOf(row))
        return { outcome: 'created', key }
      })
    }
  }
}

/** The content of those devices of the application that have these serials. */
async function contentsOf(tx: Statements, appId: string, serials: readonly string[]): Promise<Map<string, string>> {
  const devices = await findDevices(tx, appId, serials)
  return new Map([...devices].map(([serial, device]) => [serial, contentOf(device)]))
}

/** The outcome of a row whose device the application already has. */
function sameOrRefused(row: DeviceRow, there: string): RowOutcome {
  return there === contentOf(row)
    ? { outcome: 'existing', key: row.deviceNo }
    : { refusal: new Refusal('deviceAlreadyYours') }
}

export type SiteRow = Omit<SiteRegistration, 'appId'>
/** Writes, or predicts, rows of sites that do not exist yet. */
type WriteSites = (tx: Statements, rows: SiteRow[], writer: Writer) => Promise<LaneOutcome[]>

/** Makes the function that decides rows of sites. Rows with the same content become one site. */
export function siteWriter(write: WriteSites) {
  return async (rows: readonly SiteRow[], writer: Writer): Promise<DecideRows> => {
    const sites = rows.map((row) => readSite({ ...row, appId: writer.appId }))
    const contents = sites.map((site) => JSON.stringify(site))
    const places = new Map(contents.map((content, place) => [content, place]).reverse() as [string, number][])
    const firstOfPlace = contents.map((content) => places.get(content) as number)
    return async (tx) => {
      const there = await findEqualSites(tx, writer.appId, sites)
      const fresh = firstOfPlace.filter((first, place) => first === place && !there.has(place))
      const written = await write(
        tx,
        fresh.map((place) => rows[place] as SiteRow),
        writer,
      )
      const outcomes = new Map(fresh.map((place, index) => [place, written[index] as LaneOutcome]))
      return firstOfPlace.map((first, place): RowOutcome => {
        const id = there.get(place)
        if (id !== undefined) return { outcome: 'existing', key: id }
        return siteOutcome(outcomes.get(first) as LaneOutcome, first === place)
      })
    }
  }
}

function siteOutcome(written: LaneOutcome, isFirst: boolean): RowOutcome {
  if ('refusal' in written) return written
  if (!('record' in written)) throw new TryAgain()
  return { outcome: isFirst ? 'created' : 'existing', key: JSON.parse(written.record).id }
}

/** Makes the function that creates sites as the single operation does. */
export const siteCreator =
  (parts: RowParts): WriteSites =>
  async (tx, rows, { appId, actor }) => {
    if (rows.length === 0) return []
    const news = rows.map((row) => ({
      body: { ...row, appId },
      actor,
      idempotency: undefined,
    }))
    return writeSites(tx, news, accessWasChecked, parts)
  }

/** Predicts the outcome of rows of sites. */
export const predictSites: WriteSites = async (tx, rows, { appId }) => {
  if (!(await hasConfiguration(tx, appId))) return rows.map(() => ({ refusal: new Refusal('thirdPartyConfigMissing') }))
  const sites = rows.map((row) => readSite({ ...row, appId }))
  const refusalOf = await ruleChecker(tx, appId, sites)
  return sites.map((site) => {
    const refusal = refusalOf(site)
    return refusal === undefined ? { record: '{"id":null}' } : { refusal }
  })
}

interface InventoryEntry {
  deviceNo: string
  modelName: string
}

/**
 * Decides rows of the inventory. A row whose model differs from the stored one changes the entry, and counts as created
 * or, with `upsert`, as updated.
 */
export async function decideInventory(
  tx: Statements,
  rows: readonly InventoryEntry[],
  { isDryRun, isUpsert }: { isDryRun: boolean; isUpsert: boolean },
): Promise<RowOutcome[]> {
  if (!isDryRun) await holdCatalogue(tx)
  const unknown = await unknownModelNames(tx, [...new Set(rows.map(({ modelName }) => modelName))])
  const models = await findInventory(
    tx,
    rows.map(({ deviceNo }) => deviceNo),
  )
  const changed = new Map<string, string>()
  const reason = { en: 'is not the name of a device model', zh: '不是已有设备型号的名称' }
  const outcomes = rows.map(({ deviceNo: key, modelName }): RowOutcome => {
    if (unknown.has(modelName)) return { refusal: invalidRequest([{ field: 'modelName', reason }]) }
    if (models.get(key) === modelName) return { outcome: 'existing', key }
    const outcome = isUpsert && models.has(key) ? 'updated' : 'created'
    models.set(key, modelName)
    changed.set(key, modelName)
    return { outcome, key }
  })
  const entries = [...changed].map(([deviceNo, modelName]) => ({ deviceNo, modelName }))
  if (!isDryRun && entries.length > 0) await upsertInventory(tx, entries)
  return outcomes
}

import type { Caller } from '../callers/caller.ts'
import type { Context } from '../context.ts'
import type { Statements } from '../database/open.ts'
import { type DeviceRegistration, defaultCityCode, defaultProvinceCode } from '../devices/contract.ts'
import { findInventory, unknownModel, unknownModelNames, upsertInventory } from '../devices/inventory/store.ts'
import { type DeviceBatch, deviceBatches } from '../devices/lane.ts'
import type { Catalogue } from '../devices/models/catalogue.ts'
import { holdCatalogue } from '../devices/models/store.ts'
import type { RegistrationOutcome as Outcome } from '../devices/routine.ts'
import { findDevices } from '../devices/store.ts'
import type { SiteRegistration } from '../sites/contract.ts'
import { readSite, type Site } from '../sites/rules.ts'
import { findEqualSites } from '../sites/store.ts'
import { siteCreation } from '../sites/writes.ts'
import { invalidRequest, Refusal, type RefusalName } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { carryOut, type Decided, tryAgain } from '../writes/kind.ts'

// As single creates do, except that an equal existing row is not refused.

export type RowOutcome =
  | { outcome: 'created' | 'updated' | 'existing'; key: string | number | null }
  | { refusal: Refusal }

export interface Writer {
  appId: string
  actor: string
  isDryRun: boolean
}

/** Decides rows under the application's lock; one result per row, in order. */
export type DecideRows = (tx: Statements) => Promise<RowOutcome[]>

/** A portion checks access once, for all its rows. */
const accessWasChecked: readonly Caller[] = []

export type DeviceRow = Omit<DeviceRegistration, 'appId'>

/** Returns what an existing device must have in common with its row. */
export function contentOf(row: DeviceRow): string {
  const { deviceName, tag, provinceCode, cityCode, districtCode, detailAddress, coordinates } = row
  const codes = [given(provinceCode) ?? defaultProvinceCode, given(cityCode) ?? defaultCityCode, districtCode]
  return JSON.stringify([deviceName, given(tag), ...codes, given(detailAddress), coordinates])
}

export function deviceWriter(context: Pick<Context, 'config' | 'metrics'>, catalogue: Catalogue) {
  const compose = deviceBatches(context, catalogue)
  return async (rows: readonly DeviceRow[], { appId, actor, isDryRun }: Writer): Promise<DecideRows> => {
    const firsts = firstOf(rows, ({ deviceNo }) => deviceNo)
    const news = [...firsts.values()].map((row) => ({ body: { ...row, appId }, actor, idempotency: undefined }))
    const batch = await compose(news)
    return async (tx) => {
      const outcomes = await writeDevices(tx, batch, isDryRun)
      const written = new Map([...firsts.keys()].map((serial, place) => [serial, outcomes[place] as Outcome]))
      // An offline application may create nothing, and has what it has.
      const mayBeThere = (outcome: Outcome) => isRefusedAs(outcome, 'deviceAlreadyYours', 'applicationOffline')
      const held = [...written].flatMap(([serial, outcome]) => (mayBeThere(outcome) ? [serial] : []))
      const there = await contentsOf(tx, appId, held)
      for (const [serial, outcome] of written) {
        if ('record' in outcome) there.set(serial, contentOf(firsts.get(serial) as DeviceRow))
      }
      return rows.map((row): RowOutcome => {
        const { deviceNo: key } = row
        const outcome = written.get(key) as Outcome
        if ('record' in outcome && row === firsts.get(key)) return { outcome: 'created', key }
        if (there.get(key) === contentOf(row)) return { outcome: 'existing', key }
        return { refusal: 'refusal' in outcome ? outcome.refusal : new Refusal('deviceAlreadyYours') }
      })
    }
  }
}

function firstOf<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row> {
  const firsts = new Map<string, Row>()
  for (const row of rows) if (!firsts.has(keyOf(row))) firsts.set(keyOf(row), row)
  return firsts
}

/** Throws `tryAgain` if a device must be composed again. */
export async function writeDevices(tx: Statements, batch: DeviceBatch, isDryRun: boolean): Promise<Outcome[]> {
  const outcomes = await batch.write(tx, accessWasChecked, isDryRun)
  if (outcomes.some((outcome) => 'again' in outcome || 'revoked' in outcome))
    throw tryAgain('a device must be composed again')
  return outcomes
}

const isRefusedAs = (outcome: Outcome, ...names: RefusalName[]) =>
  'refusal' in outcome && names.includes(outcome.refusal.refusal)

async function contentsOf(tx: Statements, appId: string, serials: readonly string[]): Promise<Map<string, string>> {
  const devices = await findDevices(tx, appId, serials)
  return new Map([...devices].map(([serial, device]) => [serial, contentOf(device)]))
}

export type SiteRow = Omit<SiteRegistration, 'appId'>

/** Decides site rows. Rows with the same content become one site. */
export function siteWriter({ metrics }: Pick<Context, 'metrics'>) {
  return async (rows: readonly SiteRow[], { appId, actor, isDryRun }: Writer): Promise<DecideRows> => {
    const bodies = rows.map((row) => ({ ...row, appId }))
    const sites = bodies.map(readSite)
    const contents = sites.map((site) => JSON.stringify(site))
    const places = new Map(contents.map((content, place) => [content, place]).reverse() as [string, number][])
    const firstOfPlace = contents.map((content) => places.get(content) as number)
    return async (tx) => {
      const there = await findEqualSites(tx, appId, sites)
      const fresh = firstOfPlace.filter((first, place) => first === place && !there.has(place))
      const writes = fresh.map((place) => ({ appId, body: bodies[place] as SiteRegistration, actor, ifMatch: null }))
      const decisions = await carryOut(tx, siteCreation, writes, [appId], isDryRun)
      const decided = new Map(fresh.map((place, index) => [place, decisions[index] as Decided<Site>]))
      if (!isDryRun) metrics.countCreates(decisions.filter((decision) => 'shown' in decision).length, 'sites')
      return firstOfPlace.map((first, place): RowOutcome => {
        const id = there.get(place)
        if (id !== undefined) return { outcome: 'existing', key: id }
        const decision = decided.get(first) as Decided<Site>
        const outcome = rowOutcome(decision, isDryRun ? null : idOf(decision))
        return first === place || 'refusal' in outcome ? outcome : { ...outcome, outcome: 'existing' }
      })
    }
  }
}

const idOf = (decision: Decided<Site>) => ('shown' in decision ? (decision.rows[0]?.id ?? null) : null)

export const rowOutcome = <Row>(decision: Decided<Row>, key: string | number | null): RowOutcome =>
  'refusal' in decision ? decision : { outcome: decision.outcome, key }

interface InventoryEntry {
  deviceNo: string
  modelName: string
}

/** Decides inventory rows. Another model changes the entry, as created or, with `upsert`, updated. */
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
  const outcomes = rows.map(({ deviceNo: key, modelName }): RowOutcome => {
    if (unknown.has(modelName)) return { refusal: invalidRequest([unknownModel('modelName')]) }
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

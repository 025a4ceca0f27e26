import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from '../../database/open.ts'
import type { Pending } from '../../database/pending.ts'
import { Turns } from '../../runtime/turns.ts'
import { unavailable } from '../../vocabulary/refusals.ts'
import { type CatalogueState, type DeviceModel, modelNamesOf, readCatalogue } from './store.ts'

export interface SerialLookup {
  /** The database refuses a write that uses an older version. */
  version: number
  modelOf(serial: string): DeviceModel | undefined
  isInInventory(serial: string): boolean
}

/** The time between changes, in which a create finds a version that lasts until it is written. */
const changeRestMs = 20

/** Caches the device models. The write path checks their version, so an outdated copy costs only a retry. */
export class Catalogue {
  private readonly pool: Sql
  private known: Promise<KnownModels> | undefined
  private readonly changes = new Turns({ ofOne: 1, restAfter: () => pause(changeRestMs), full: unavailable })

  constructor(pool: Sql) {
    this.pool = pool
  }

  forget(): void {
    this.known = undefined
  }

  /** Runs a change of the models or the inventory, in its turn. */
  async change<Answer>(pending: Pending, run: () => Promise<Answer>): Promise<Answer> {
    const answer = await this.changes.run('', pending, run)
    this.forget()
    return answer
  }

  /** Finds models by inventory (exact serial), else by the longest prefix (contract §4.2). */
  async lookUp(serials: readonly string[]): Promise<SerialLookup> {
    this.known ??= this.read()
    const known = await this.known
    const modelNames = known.hasInventory ? await modelNamesOf(this.pool, serials) : undefined
    return {
      version: known.version,
      modelOf(serial) {
        const modelName = modelNames?.get(serial)
        if (modelName === undefined) return known.byPrefix(serial)
        // The inventory's model name remains even if the model was deleted.
        return known.byName.get(modelName) ?? { ...unknownModel, modelName }
      },
      isInInventory: (serial) => modelNames?.has(serial) ?? false,
    }
  }

  private async read(): Promise<KnownModels> {
    try {
      return new KnownModels(await readCatalogue(this.pool))
    } catch (error) {
      this.forget()
      throw error
    }
  }
}

const unknownModel = { serialPrefix: '', productPictureUrl: null, deviceType: null, deviceTypeName: null }

class KnownModels {
  readonly version: number
  readonly hasInventory: boolean
  readonly byName = new Map<string, DeviceModel>()
  private readonly prefixes = new Map<string, DeviceModel>()
  /** Longest first, so that a lookup tries each length once. */
  private readonly lengths: number[]

  constructor(state: CatalogueState) {
    this.version = state.version
    this.hasInventory = state.hasInventory
    for (const model of state.models) {
      this.prefixes.set(model.serialPrefix, model)
      if (!this.byName.has(model.modelName)) this.byName.set(model.modelName, model)
    }
    this.lengths = [...new Set(state.models.map((model) => model.serialPrefix.length))].sort((a, b) => b - a)
  }

  byPrefix(serial: string): DeviceModel | undefined {
    for (const length of this.lengths) {
      const model = length <= serial.length ? this.prefixes.get(serial.slice(0, length)) : undefined
      if (model !== undefined) return model
    }
    return undefined
  }
}

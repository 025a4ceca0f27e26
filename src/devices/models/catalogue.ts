import type { Sql } from '../../database/open.ts'
import { type CatalogueState, type DeviceModel, modelNamesOf, readCatalogue } from './store.ts'

/** The result of looking up serials: their models, and, where there is an inventory, which of them are in it. */
export interface SerialLookup {
  /** The version of the catalogue that was looked up in. The database refuses a write that uses an older one. */
  version: number
  modelOf(serial: string): DeviceModel | undefined
  isInInventory(serial: string): boolean
}

/**
 * Caches the device models in memory, so that a create does not read them again. The write path checks the version in
 * its own transaction, so an outdated copy costs a retry, never a wrong record.
 */
export class Catalogue {
  private readonly pool: Sql
  private known: Promise<KnownModels> | undefined

  constructor(pool: Sql) {
    this.pool = pool
  }

  /** Drops the copy, because the database has a newer version. */
  forget(): void {
    this.known = undefined
  }

  /** Looks up the models of serials: in the inventory (exact serial), else by the longest prefix (contract §4.2). */
  async lookUp(serials: readonly string[]): Promise<SerialLookup> {
    this.known ??= this.read()
    const known = await this.known
    const modelNames = known.hasInventory ? await modelNamesOf(this.pool, serials) : undefined
    return {
      version: known.version,
      modelOf(serial) {
        const modelName = modelNames?.get(serial)
        if (modelName === undefined) return known.byPrefix(serial)
        // The inventory's model name holds even if that model has been deleted since.
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
  /** The distinct lengths of the prefixes, longest first: a lookup tries each once. */
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

import type { CallerCache } from '../callers/cache.ts'
import type { Caller } from '../callers/caller.ts'
import { submitter } from '../callers/submitter.ts'
import type { Config } from '../config.ts'
import type { RequestKey } from '../database/idempotency.ts'
import type { OpenLane } from '../database/lanes.ts'
import type { Sql, Statements } from '../database/open.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { ShowMoment } from '../vocabulary/moments.ts'
import type { DeviceRegistration } from './contract.ts'
import type { Catalogue, SerialLookup } from './models/catalogue.ts'
import { type DeviceInsert, type RegistrationOutcome, registerDevices, type WrittenDevice } from './routine.ts'
import { deviceText, freshState, registered, showDevice } from './rules.ts'

/** A device that is to be registered. */
export interface NewDevice {
  body: DeviceRegistration
  actor: string
  idempotency: RequestKey | undefined
}

/** A device that a caller wants registered. */
interface Submission extends NewDevice {
  caller: Caller
}

export interface BatchParts {
  catalogue: Catalogue
  metrics: Metrics
  config: Pick<Config, 'inventoryPolicy'>
  showMoment: ShowMoment
}

export interface RegistrationParts extends BatchParts {
  /** For the lane's batches: one connection, on which they follow each other without a pause. */
  writer: Sql
  openLane: OpenLane
  callers: CallerCache
}

/**
 * Writes a batch in one transaction, or within one; one outcome an item, in order. Looks again whether the callers still
 * have access: none where the transaction has checked access itself.
 */
export type WriteBatch = (sql: Statements, callers: readonly Caller[]) => Promise<RegistrationOutcome[]>

/** Makes what composes a batch of devices whose serials differ from each other, so that nothing but the writing is left. */
export function deviceBatches(parts: BatchParts): (news: readonly NewDevice[]) => Promise<WriteBatch> {
  const { config, catalogue, metrics, showMoment } = parts
  const isInventoryRequired = config.inventoryPolicy === 'required'
  return async (news) => {
    const lookup = await catalogue.lookUp(news.map(({ body }) => body.deviceNo))
    const now = new Date()
    const devices = news.map((one) => composeDevice(one, lookup, now, isInventoryRequired, showMoment))
    return async (sql, callers) => {
      const outcomes = await registerDevices(sql, devices, callers, lookup.version, now)
      if (outcomes.some((outcome) => 'again' in outcome)) catalogue.forget()
      metrics.countCreates(outcomes.filter((outcome) => 'record' in outcome).length)
      return outcomes
    }
  }
}

/**
 * The lane that registers devices, for one request or for the rows of a batch.
 */
export function registrationLane(parts: RegistrationParts): (submission: Submission) => Promise<WrittenDevice> {
  const { callers, writer, openLane } = parts
  const compose = deviceBatches(parts)

  const lane = openLane<Submission, RegistrationOutcome>('devices', {
    atOnce: 2,
    claims: ({ body, idempotency }) =>
      idempotency === undefined ? [body.deviceNo] : [body.deviceNo, `${body.appId} ${idempotency.key}`],
    write: async (submissions) => {
      const write = await compose(submissions)
      return write(
        writer,
        submissions.map(({ caller }) => caller),
      )
    },
  })

  return submitter(lane, callers)
}

function composeDevice(
  { body, actor, idempotency }: NewDevice,
  lookup: SerialLookup,
  now: Date,
  isInventoryRequired: boolean,
  showMoment: ShowMoment,
): DeviceInsert {
  const model = lookup.modelOf(body.deviceNo)
  const said = registered(body, now)
  // One literal, member by member: copying objects into each other costs as much as everything else here.
  const device: DeviceInsert = {
    appId: said.appId,
    deviceNo: said.deviceNo,
    deviceName: said.deviceName,
    tag: said.tag,
    provinceCode: said.provinceCode,
    cityCode: said.cityCode,
    districtCode: said.districtCode,
    detailAddress: said.detailAddress,
    coordinates: said.coordinates,
    modelName: model?.modelName ?? null,
    productPictureUrl: model?.productPictureUrl ?? null,
    deviceType: model?.deviceType ?? null,
    deviceTypeName: model?.deviceTypeName ?? null,
    status: freshState.status,
    onlineStatus: freshState.onlineStatus,
    runStatus: freshState.runStatus,
    statusRemark: null,
    version: null,
    batteryStatus: null,
    batteryEnergy: null,
    boundAt: said.boundAt,
    actor,
    isUnknown: isInventoryRequired && !lookup.isInInventory(body.deviceNo),
    idempotency,
    record: '',
  }
  device.record = deviceText(showDevice(device, showMoment))
  return device
}

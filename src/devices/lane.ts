import type { Caller } from '../callers/caller.ts'
import { submitter } from '../callers/submitter.ts'
import type { Context } from '../context.ts'
import type { RequestKey } from '../database/idempotency.ts'
import type { Statements } from '../database/open.ts'
import type { Pending } from '../database/pending.ts'
import type { DeviceRegistration } from './contract.ts'
import type { Catalogue, SerialLookup } from './models/catalogue.ts'
import { type DeviceInsert, type RegistrationOutcome, registerDevices, type WrittenDevice } from './routine.ts'
import { deviceText, freshState, membersOf, showDevice } from './rules.ts'

export interface NewDevice {
  body: DeviceRegistration
  actor: string
  idempotency: RequestKey | undefined
}

interface Submission extends NewDevice {
  caller: Caller
  pending: Pending
}

export interface DeviceBatch {
  devices: DeviceInsert[]
  /**
   * Writes the batch in its own or the given transaction; a dry run only checks. Returns one outcome per item, in
   * order. Checks access for `callers` again; pass none if the transaction has done so.
   */
  write(sql: Statements, callers: readonly Caller[], isDryRun?: boolean): Promise<RegistrationOutcome[]>
}

/** Returns a function that composes a batch of devices with distinct serials. */
export function deviceBatches(
  { config, metrics }: Pick<Context, 'config' | 'metrics'>,
  catalogue: Catalogue,
): (registrations: readonly NewDevice[]) => Promise<DeviceBatch> {
  const isInventoryRequired = config.inventoryPolicy === 'required'
  return async (registrations) => {
    const lookup = await catalogue.lookUp(registrations.map(({ body }) => body.deviceNo))
    const now = new Date()
    const devices = registrations.map((one) => composeDevice(one, lookup, now, isInventoryRequired))
    return {
      devices,
      async write(sql, callers, isDryRun = false) {
        const options = { catalogueVersion: lookup.version, now, isDryRun }
        const outcomes = await registerDevices(sql, devices, callers, options)
        if (outcomes.some((outcome) => 'again' in outcome)) catalogue.forget()
        const created = outcomes.filter((outcome) => 'record' in outcome).length
        if (!isDryRun) metrics.countCreates(created, 'devices')
        return outcomes
      },
    }
  }
}

/** Opens the lane that creates devices. Returns its submit function. */
export function registrationLane(
  context: Context,
  catalogue: Catalogue,
): (submission: Submission) => Promise<WrittenDevice> {
  const { callers, pools, openLane } = context
  const compose = deviceBatches(context, catalogue)

  const lane = openLane<Submission, RegistrationOutcome>('devices', {
    atOnce: 2,
    ownerOf: ({ body }) => body.appId,
    claims: ({ body, idempotency }) =>
      idempotency === undefined ? [body.deviceNo] : [body.deviceNo, `${body.appId} ${idempotency.key}`],
    write: async (submissions) => {
      const batch = await compose(submissions)
      // Its single connection runs the lane's batches back to back.
      return batch.write(
        pools.devices,
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
): DeviceInsert {
  const model = lookup.modelOf(body.deviceNo)
  const members = membersOf(body, now)
  // Member by member: spreading objects would double the cost of this function.
  const device: DeviceInsert = {
    appId: members.appId,
    deviceNo: members.deviceNo,
    deviceName: members.deviceName,
    tag: members.tag,
    provinceCode: members.provinceCode,
    cityCode: members.cityCode,
    districtCode: members.districtCode,
    detailAddress: members.detailAddress,
    coordinates: members.coordinates,
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
    boundAt: members.boundAt,
    actor,
    isUnknown: isInventoryRequired && !lookup.isInInventory(body.deviceNo),
    idempotency,
    record: '',
  }
  device.record = deviceText(showDevice(device))
  return device
}

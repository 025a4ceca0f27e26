import { GroupCommit } from '../database/group-commit.ts'
import type { SerialLookup } from '../device-models/catalogue.ts'
import { requireActingFor } from '../http/authenticate.ts'
import { type Handler, handle, type Idempotency, JsonText } from '../http/serve.ts'
import { laneOptions, type Platform, showQueue } from '../platform.ts'
import { Refusal } from '../refusals.ts'
import { divisionName } from '../regions/names.ts'
import { given, quoted } from '../values.ts'
import {
  createDevice,
  type DeviceRecord,
  type DeviceRegistration,
  defaultCityCode,
  defaultProvinceCode,
} from './contract.ts'
import { type DeviceInsert, type DeviceOutcome, registerDevices } from './store.ts'

interface Submission {
  body: DeviceRegistration
  actor: string
  idempotency: Idempotency | undefined
}

export function deviceRoutes(platform: Platform): Handler[] {
  const { config, catalogue, showMoment, writer } = platform
  const isInventoryRequired = config.inventoryPolicy === 'required'

  const lane: GroupCommit<Submission, DeviceOutcome> = new GroupCommit({
    ...laneOptions(platform, 'devices'),
    claims: ({ body, idempotency }) =>
      idempotency === undefined ? [body.deviceNo] : [body.deviceNo, `${body.appId} ${idempotency.key}`],
    async write(submissions) {
      const lookup = await catalogue.lookUp(submissions.map(({ body }) => body.deviceNo))
      const now = new Date()
      const createTime = showMoment(now)
      const devices = submissions.map((submission) =>
        composeDevice(submission, lookup, createTime, isInventoryRequired),
      )
      const outcomes = await writer.run((sql) => registerDevices(sql, devices, lookup.version, now))
      if (outcomes.some((outcome) => 'again' in outcome)) catalogue.forget()
      return outcomes
    },
  })

  showQueue(platform, 'devices', lane)

  return [
    handle(createDevice, async ({ caller, body, idempotency }) => {
      const actor = requireActingFor(caller, body.appId)
      const since = performance.now()
      // A submission can meet a moved catalogue, or a serial that is freed between two statements, again and again;
      // the lane refuses it once it has waited long enough.
      for (;;) {
        const outcome = await lane.submit({ body, actor, idempotency }, since)
        if ('record' in outcome) return new JsonText(outcome.record)
        if ('refusal' in outcome) throw new Refusal(outcome.refusal)
      }
    }),
  ]
}

function composeDevice(
  { body, actor, idempotency }: Submission,
  lookup: SerialLookup,
  createTime: string,
  isInventoryRequired: boolean,
): DeviceInsert {
  const { appId, deviceNo, deviceName, districtCode, coordinates } = body
  const model = lookup.modelOf(deviceNo)
  const tag = given(body.tag)
  const provinceCode = given(body.provinceCode) ?? defaultProvinceCode
  const cityCode = given(body.cityCode) ?? defaultCityCode
  const detailAddress = given(body.detailAddress)
  const modelName = model?.modelName ?? null
  const productPictureUrl = model?.productPictureUrl ?? null
  const deviceType = model?.deviceType ?? null
  const deviceTypeName = model?.deviceTypeName ?? null
  const record: DeviceRecord = {
    appId,
    deviceNo,
    tag,
    deviceName,
    modelName,
    productPictureUrl,
    deviceType,
    deviceTypeName,
    status: 1,
    onlineStatus: 2,
    statusRemark: null,
    runStatus: 0,
    version: null,
    deviceNumber: 1,
    // The document calls the address so (§2.3).
    deviceBattery: {
      cityCode,
      cityName: divisionName(cityCode),
      coordinates,
      detailAddress,
      districtCode,
      districtName: divisionName(districtCode),
      provinceCode,
      provinceName: divisionName(provinceCode),
    },
    DeviceBatteryOutput: { batteryStatus: null, batteryEnergy: null },
    createTime,
  }
  return {
    appId,
    actor,
    deviceNo,
    deviceName,
    tag,
    provinceCode,
    cityCode,
    districtCode,
    detailAddress,
    coordinates,
    modelName,
    productPictureUrl,
    deviceType,
    deviceTypeName,
    isUnknown: isInventoryRequired && !lookup.isInInventory(deviceNo),
    idempotency,
    record: deviceText(record),
  }
}

/**
 * The record as JSON text. Written out, because a serialiser that has to discover the same 27 members every time is
 * the most expensive step of composing a record. The type still holds it to the contract's members.
 */
function deviceText(record: DeviceRecord): string {
  const { deviceBattery: place, DeviceBatteryOutput: battery } = record
  return (
    `{"appId":${quoted(record.appId)},"deviceNo":${quoted(record.deviceNo)},"tag":${quoted(record.tag)},` +
    `"deviceName":${quoted(record.deviceName)},"modelName":${quoted(record.modelName)},` +
    `"productPictureUrl":${quoted(record.productPictureUrl)},"deviceType":${quoted(record.deviceType)},` +
    `"deviceTypeName":${quoted(record.deviceTypeName)},"status":${record.status},` +
    `"onlineStatus":${record.onlineStatus},"statusRemark":${quoted(record.statusRemark)},` +
    `"runStatus":${record.runStatus},"version":${quoted(record.version)},"deviceNumber":${record.deviceNumber},` +
    `"deviceBattery":{"cityCode":${quoted(place.cityCode)},"cityName":${quoted(place.cityName)},` +
    `"coordinates":${quoted(place.coordinates)},"detailAddress":${quoted(place.detailAddress)},` +
    `"districtCode":${quoted(place.districtCode)},"districtName":${quoted(place.districtName)},` +
    `"provinceCode":${quoted(place.provinceCode)},"provinceName":${quoted(place.provinceName)}},` +
    `"DeviceBatteryOutput":{"batteryStatus":${battery.batteryStatus},` +
    `"batteryEnergy":${quoted(battery.batteryEnergy)}},"createTime":${quoted(record.createTime)}}`
  )
}

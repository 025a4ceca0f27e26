import Type, { type Static } from 'typebox'
import { operation } from '../../vocabulary/operation.ts'
import { pageOf, pageQuery } from '../../vocabulary/pages.ts'
import { deviceNo, freeText, lengths, moment, name, named, nullable, optional } from '../../vocabulary/values.ts'

const folder = '/api/platform/v1/deviceModel'

/** The longest prefix that matches a serial decides its model. */
const serialPrefix = deviceNo

export const DeviceModelRecord = named(
  'DeviceModel',
  Type.Object({
    serialPrefix: Type.String(),
    modelName: Type.String(),
    productPictureUrl: nullable(Type.String()),
    deviceType: nullable(Type.String()),
    deviceTypeName: nullable(Type.String()),
    createTime: moment,
  }),
)
export type DeviceModelRecord = Static<typeof DeviceModelRecord>

export const saveDeviceModel = operation({
  id: 'saveDeviceModel',
  group: 'deviceModels',
  summary: 'Creates or replaces the device model of a serial prefix.',
  words: { en: 'Save a device model', zh: '保存设备型号' },
  method: 'POST',
  path: `${folder}/save`,
  callers: ['operator'],
  body: Type.Object({
    serialPrefix,
    modelName: name,
    productPictureUrl: optional(freeText(lengths.url)),
    deviceType: optional(freeText(lengths.name)),
    deviceTypeName: optional(freeText(lengths.name)),
  }),
  data: DeviceModelRecord,
  refusals: [],
  idempotent: true,
})

export const deleteDeviceModel = operation({
  id: 'deleteDeviceModel',
  group: 'deviceModels',
  summary: 'Deletes the device model of a serial prefix. Existing devices keep the model.',
  words: { en: 'Delete a device model', zh: '删除设备型号' },
  method: 'POST',
  path: `${folder}/delete`,
  callers: ['operator'],
  body: Type.Object({ serialPrefix }),
  data: DeviceModelRecord,
  refusals: ['deviceModelNotFound'],
  idempotent: true,
})

export const pageDeviceModels = operation({
  id: 'pageDeviceModels',
  group: 'deviceModels',
  summary: 'Lists device models by serial prefix.',
  method: 'GET',
  path: `${folder}/page`,
  callers: ['operator'],
  query: Type.Object({ ...pageQuery, serialPrefix: optional(serialPrefix), modelName: optional(name) }),
  data: pageOf(DeviceModelRecord),
  refusals: [],
})

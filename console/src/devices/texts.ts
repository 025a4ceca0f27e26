import { type FieldName, fieldNames } from '../imports/row-faults.ts'
import { defineTexts } from '../language/index.ts'
import { deviceFields } from '../words/fields.ts'

/** Texts of more than one page of devices. */
export const useDeviceTexts = defineTexts({
  ...deviceFields,
  coordinates: ['Coordinates', '经纬度'],
  battery: ['Battery', '电池'],
  batteryStatus: ['manufacturer status {{status}}', '厂商状态码 {{status}}'],
  statusRemark: ['Status note', '状态说明'],
  fault_needed: ['Required.', '必填。'],
  fault_swapped: [
    'This looks like latitude,longitude. Enter the longitude first.',
    '看起来是“纬度,经度”，应将经度写在前面。',
  ],
  fault_hasSpace: ['A serial number can’t contain spaces.', '设备序列号不能含空格。'],
  fault_tooLong: ['Too long.', '内容过长。'],
  fault_notCoordinates: [
    'Longitude,latitude in decimal degrees, such as 115.899918,28.676493.',
    '格式为“经度,纬度”（十进制度），例如 115.899918,28.676493。',
  ],
  fault_twice: ['This serial number is listed twice.', '该设备序列号在列表中重复。'],
  swap: ['Swap', '对调经纬度'],
  history: ['Ownership history', '归属历史'],
  historyUntilNow: ['present', '至今'],
  historyBy: ['ended by', '结束者'],
  findTitle: ['Look up a complete serial number', '按完整序列号查归属'],
  several: ['Add several devices', '批量新建'],
  hasReported: ['Reporting', '上报情况'],
  reportedOnce: ['Has reported', '上报过'],
  neverReported: ['Never reported', '从未上报'],
  placement: ['Site', '安装情况'],
  placed: ['Has a site', '已安装'],
  placedNowhere: ['No site', '未安装'],
})

/** The form's names of fields, for refusals that name fields. */
export function useFieldNames(): Record<FieldName, string> {
  const t = useDeviceTexts()
  return Object.fromEntries(fieldNames.map((name) => [name, t(name)])) as Record<FieldName, string>
}

import type { FieldName } from '../imports/row-faults.ts'
import { defineTexts } from '../language/index.ts'
import { deviceFields } from '../words/fields.ts'

/** Texts of more than one page of devices. */
export const useDeviceTexts = defineTexts(
  {
    ...deviceFields.en,
    coordinates: 'Coordinates',
    battery: 'Battery',
    batteryStatus: 'manufacturer status {{status}}',
    statusRemark: 'Status note',
    fault_needed: 'Required.',
    fault_swapped: 'This looks like latitude,longitude. Enter the longitude first.',
    fault_hasSpace: 'A serial number can’t contain spaces.',
    fault_tooLong: 'Too long.',
    fault_notCoordinates: 'Longitude,latitude in decimal degrees, such as 115.899918,28.676493.',
    fault_twice: 'This serial number is listed twice.',
    swap: 'Swap',
    history: 'Ownership history',
    historyUntilNow: 'present',
    historyBy: 'ended by',
    findTitle: 'Look up a complete serial number',
    several: 'Add several devices',
    hasReported: 'Reporting',
    reportedOnce: 'Has reported',
    neverReported: 'Never reported',
    placement: 'Site',
    placed: 'Has a site',
    placedNowhere: 'No site',
  },
  {
    ...deviceFields.zh,
    coordinates: '经纬度',
    battery: '电池',
    batteryStatus: '厂商状态码 {{status}}',
    statusRemark: '状态说明',
    fault_needed: '必填。',
    fault_swapped: '看起来是“纬度,经度”，应将经度写在前面。',
    fault_hasSpace: '设备序列号不能含空格。',
    fault_tooLong: '内容过长。',
    fault_notCoordinates: '格式为“经度,纬度”（十进制度），例如 115.899918,28.676493。',
    fault_twice: '该设备序列号在列表中重复。',
    swap: '对调经纬度',
    history: '归属历史',
    historyUntilNow: '至今',
    historyBy: '结束者',
    findTitle: '按完整序列号查归属',
    several: '批量新建',
    hasReported: '上报情况',
    reportedOnce: '上报过',
    neverReported: '从未上报',
    placement: '安装情况',
    placed: '已安装',
    placedNowhere: '未安装',
  },
)

/** The form's names of fields, for refusals that name fields. */
export function useFieldNames(): Record<FieldName, string> {
  const t = useDeviceTexts()
  return {
    deviceNo: t('deviceNo'),
    deviceName: t('deviceName'),
    districtCode: t('districtCode'),
    coordinates: t('coordinates'),
    tag: t('tag'),
    detailAddress: t('detailAddress'),
    provinceCode: t('provinceCode'),
    cityCode: t('cityCode'),
  }
}

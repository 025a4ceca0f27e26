import { defineTexts, type Text } from '../language/index.ts'

// The names of fields by which several rooms show records.

export const siteFields = {
  contacts: ['Contact person', '联系人'],
  contactsPhone: ['Contact phone', '联系电话'],
  customerServicePhone: ['Customer service phone', '客服电话'],
  businessWeekDay: ['Opening days', '营业日'],
  businessStartTime: ['Opens at', '开始营业时间'],
  businessClosingTime: ['Closes at', '结束营业时间'],
  fastChargeBillRuleId: ['Fast charging rule', '快充计费规则'],
  rushingBillRuleId: ['Slow charging rule', '慢充计费规则'],
  placeholderBillRuleId: ['Occupancy rule', '占位计费规则'],
} satisfies Record<string, Text>

export const deviceFields = {
  deviceName: ['Name', '设备名称'],
  districtCode: ['District code', '区县代码'],
  tag: ['Tag', '备注'],
  detailAddress: ['Street address', '详细地址'],
  provinceCode: ['Province code', '省份代码'],
  cityCode: ['City code', '城市代码'],
  onlineStatus: ['Connection', '在线状态'],
  status: ['Health', '设备状态'],
  runStatus: ['Position', '运行状态'],
} satisfies Record<string, Text>

export const useSiteFields = defineTexts(siteFields)
export const useDeviceFields = defineTexts(deviceFields)

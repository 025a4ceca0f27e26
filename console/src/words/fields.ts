import { defineTexts } from '../language/index.ts'

// The names of fields by which several rooms show records.

export const siteFields = {
  en: {
    contacts: 'Contact person',
    contactsPhone: 'Contact phone',
    customerServicePhone: 'Customer service phone',
    businessWeekDay: 'Opening days',
    businessStartTime: 'Opens at',
    businessClosingTime: 'Closes at',
    fastChargeBillRuleId: 'Fast charging rule',
    rushingBillRuleId: 'Slow charging rule',
    placeholderBillRuleId: 'Occupancy rule',
  },
  zh: {
    contacts: '联系人',
    contactsPhone: '联系电话',
    customerServicePhone: '客服电话',
    businessWeekDay: '营业日',
    businessStartTime: '开始营业时间',
    businessClosingTime: '结束营业时间',
    fastChargeBillRuleId: '快充计费规则',
    rushingBillRuleId: '慢充计费规则',
    placeholderBillRuleId: '占位计费规则',
  },
}

export const deviceFields = {
  en: {
    deviceName: 'Name',
    districtCode: 'District code',
    tag: 'Tag',
    detailAddress: 'Street address',
    provinceCode: 'Province code',
    cityCode: 'City code',
    onlineStatus: 'Connection',
    status: 'Health',
    runStatus: 'Position',
  },
  zh: {
    deviceName: '设备名称',
    districtCode: '区县代码',
    tag: '备注',
    detailAddress: '详细地址',
    provinceCode: '省份代码',
    cityCode: '城市代码',
    onlineStatus: '在线状态',
    status: '设备状态',
    runStatus: '运行状态',
  },
}

export const useSiteFields = defineTexts(siteFields.en, siteFields.zh)
export const useDeviceFields = defineTexts(deviceFields.en, deviceFields.zh)

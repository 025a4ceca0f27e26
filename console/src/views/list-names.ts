import type { ViewedPage } from '../../../src/people/views/contract.ts'
import { defineTexts, type Text } from '../language/index.ts'

/** The names of the lists of which views are saved. */
export const useListNames = defineTexts<Record<ViewedPage, Text>>({
  applications: ['Applications', '应用'],
  sites: ['Sites', '站点'],
  devices: ['Devices', '设备'],
  billingRules: ['Billing rules', '计费规则'],
  priceChanges: ['Price changes', '调价'],
  models: ['Models', '型号'],
  inventory: ['Inventory', '库存'],
  regions: ['Regions', '行政区划'],
  imports: ['Imports', '导入'],
  acts: ['Bulk actions', '批量操作'],
  events: ['Events', '事件'],
  audit: ['Audit log', '审计日志'],
  deliveries: ['Deliveries', '回调投递'],
  refusals: ['Refused requests', '被拒绝的请求'],
  operators: ['Accounts', '账号'],
})

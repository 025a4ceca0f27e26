import type { ViewedPage } from '../../../src/people/views/contract.ts'
import { defineTexts } from '../language/index.ts'

/** The names of the lists of which views are saved. */
export const useListNames = defineTexts<Record<ViewedPage, string>>(
  {
    applications: 'Applications',
    sites: 'Sites',
    devices: 'Devices',
    billingRules: 'Billing rules',
    priceChanges: 'Price changes',
    models: 'Models',
    inventory: 'Inventory',
    regions: 'Regions',
    imports: 'Imports',
    acts: 'Bulk actions',
    events: 'Events',
    audit: 'Audit log',
    deliveries: 'Deliveries',
    refusals: 'Refused requests',
    operators: 'Accounts',
  },
  {
    applications: '应用',
    sites: '站点',
    devices: '设备',
    billingRules: '计费规则',
    priceChanges: '调价',
    models: '型号',
    inventory: '库存',
    regions: '行政区划',
    imports: '导入',
    acts: '批量操作',
    events: '事件',
    audit: '审计日志',
    deliveries: '回调投递',
    refusals: '被拒绝的请求',
    operators: '账号',
  },
)

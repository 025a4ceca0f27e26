import {
  AppstoreOutlined,
  AuditOutlined,
  CloudUploadOutlined,
  ControlOutlined,
  DashboardOutlined,
  DatabaseOutlined,
  EnvironmentOutlined,
  GlobalOutlined,
  InboxOutlined,
  PayCircleOutlined,
  SendOutlined,
  StopOutlined,
  TeamOutlined,
  ThunderboltOutlined,
} from '@ant-design/icons'
import type { ReactNode } from 'react'
import { pageDeviceModels } from '../../../src/devices/models/contract.ts'
import { pageOperators } from '../../../src/people/operators/contract.ts'
import { pageRegions } from '../../../src/regions/contract.ts'
import { getServiceDetail } from '../../../src/service/detail/contract.ts'
import { getOverview } from '../../../src/service/overview/contract.ts'
import { useMay } from '../api/session.tsx'
import { defineTexts } from '../language/index.ts'
import { paths } from '../paths.ts'

const useTexts = defineTexts(
  {
    overview: 'Overview',
    applications: 'Applications',
    sites: 'Sites',
    devices: 'Devices',
    billingRules: 'Billing rules',
    models: 'Models and inventory',
    regions: 'Regions',
    imports: 'Imports',
    acts: 'Bulk actions',
    events: 'Events',
    deliveries: 'Deliveries',
    refusals: 'Refused requests',
    people: 'Accounts and keys',
    service: 'Service',
  },
  {
    overview: '概览',
    applications: '应用',
    sites: '站点',
    devices: '设备',
    billingRules: '计费规则',
    models: '型号与库存',
    regions: '行政区划',
    imports: '导入',
    acts: '批量操作',
    events: '事件',
    deliveries: '回调投递',
    refusals: '被拒绝的请求',
    people: '账号与密钥',
    service: '服务',
  },
)

/** A page that the menu leads to. */
export interface Entry {
  /** The first part of its path; `overview` for the console's own. */
  key: string
  path: string
  icon: ReactNode
  title: string
}

/** The pages of the menu that the signed-in user may see. */
export function useEntries(): Entry[] {
  const t = useTexts()
  const may = useMay()
  const entry = (key: string, path: string, icon: ReactNode, text: Parameters<typeof t>[0]): Entry => ({
    key,
    path,
    icon,
    title: t(text),
  })
  return [
    ...(may(getOverview) ? [entry('overview', paths.overview(), <DashboardOutlined />, 'overview')] : []),
    entry('applications', paths.applications(), <AppstoreOutlined />, 'applications'),
    entry('sites', paths.sites(), <EnvironmentOutlined />, 'sites'),
    entry('devices', paths.devices(), <ControlOutlined />, 'devices'),
    entry('billing-rules', paths.billingRules(), <PayCircleOutlined />, 'billingRules'),
    ...(may(pageDeviceModels) ? [entry('models', paths.models(), <InboxOutlined />, 'models')] : []),
    ...(may(pageRegions) ? [entry('regions', paths.regions(), <GlobalOutlined />, 'regions')] : []),
    entry('imports', paths.imports(), <CloudUploadOutlined />, 'imports'),
    entry('acts', paths.acts(), <ThunderboltOutlined />, 'acts'),
    entry('events', paths.events(), <AuditOutlined />, 'events'),
    entry('deliveries', paths.deliveries(), <SendOutlined />, 'deliveries'),
    entry('refusals', paths.refusals(), <StopOutlined />, 'refusals'),
    ...(may(pageOperators) ? [entry('people', paths.people(), <TeamOutlined />, 'people')] : []),
    ...(may(getServiceDetail) ? [entry('service', paths.service(), <DatabaseOutlined />, 'service')] : []),
  ]
}

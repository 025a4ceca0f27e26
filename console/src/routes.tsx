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
import { pageDeviceModels } from '../../src/devices/models/contract.ts'
import { pageOperators } from '../../src/people/operators/contract.ts'
import { pageRegions } from '../../src/regions/contract.ts'
import { getServiceDetail } from '../../src/service/detail/contract.ts'
import { getOverview } from '../../src/service/overview/contract.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import type { Language } from './language/index.ts'

interface Entry {
  /** The page’s title, which `PageFrame` shows, and its name in the menu and in the search. */
  title: Record<Language, string>
  /** Of a page of the menu. The search finds the others too. */
  icon?: ReactNode
  /** The operation without which a user doesn't see the page. */
  needs?: Operation
  /** Other words by which people search for the page, in lower case and in both languages. */
  otherWords: string
}

/** A page with a chunk of its own, which is loaded when the page is first shown and exports the component as `Page`. */
export interface PageRoute {
  path: string
  load: () => Promise<{ Page: () => ReactNode }>
  /** Pages of one record have none. */
  entry?: Entry
}

const page = (path: string, load: PageRoute['load'], entry?: Entry): PageRoute => ({
  path,
  load,
  ...(entry && { entry }),
})

export const signedOutPages: PageRoute[] = [
  page('/console/sign-in', () => import('./sign-in/sign-in.tsx')),
  page('/console/set-up', () => import('./sign-in/set-up.tsx')),
]

/** The console's table of contents: the pages within its frame, those of the menu in its order. */
export const pages: PageRoute[] = [
  page('', () => import('./overview/overview.tsx'), {
    title: { en: 'Overview', zh: '概览' },
    icon: <DashboardOutlined />,
    needs: getOverview,
    otherWords: 'home dashboard start 首页 仪表盘',
  }),
  page('applications', () => import('./applications/list.tsx'), {
    title: { en: 'Applications', zh: '应用' },
    icon: <AppstoreOutlined />,
    otherWords: 'integrators app secret callback 对接方 应用密钥 回调',
  }),
  page('applications/:appId', () => import('./applications/application.tsx')),
  page('applications/:appId/:tab', () => import('./applications/application.tsx')),
  page('sites', () => import('./sites/list.tsx'), {
    title: { en: 'Sites', zh: '站点' },
    icon: <EnvironmentOutlined />,
    otherWords: 'stations parking map 场站 停车场 地图',
  }),
  page('sites/new', () => import('./sites/edit.tsx')),
  page('sites/:appId/:id', () => import('./sites/site.tsx')),
  page('sites/:appId/:id/edit', () => import('./sites/edit.tsx')),
  page('devices', () => import('./devices/list.tsx'), {
    title: { en: 'Devices', zh: '设备' },
    icon: <ControlOutlined />,
    otherWords: 'gates barriers serial numbers 道闸 序列号',
  }),
  page('devices/new', () => import('./devices/edit.tsx')),
  page('devices/:appId/:deviceNo', () => import('./devices/device.tsx')),
  page('devices/:appId/:deviceNo/edit', () => import('./devices/edit.tsx')),
  page('billing-rules', () => import('./billing-rules/list.tsx'), {
    title: { en: 'Billing rules', zh: '计费规则' },
    icon: <PayCircleOutlined />,
    otherWords: 'prices tariffs 价格 费率 电价',
  }),
  page('billing-rules/new', () => import('./billing-rules/edit.tsx')),
  page('billing-rules/:appId/:id', () => import('./billing-rules/rule.tsx')),
  page('billing-rules/:appId/:id/edit', () => import('./billing-rules/edit.tsx')),
  page('billing-rules/:appId/:id/prices', () => import('./prices/new-terms.tsx')),
  page('price-changes', () => import('./prices/list.tsx'), {
    title: { en: 'Scheduled price changes', zh: '调价' },
    otherWords: 'prices tariffs schedule 价格变更 费率',
  }),
  page('models', () => import('./models/models.tsx'), {
    title: { en: 'Models and inventory', zh: '型号与库存' },
    icon: <InboxOutlined />,
    needs: pageDeviceModels,
    otherWords: 'stock serial numbers 库存 序列号',
  }),
  page('regions', () => import('./regions/region-list.tsx'), {
    title: { en: 'Regions', zh: '行政区划' },
    icon: <GlobalOutlined />,
    needs: pageRegions,
    otherWords: 'divisions provinces cities districts 行政区划 地区 省市区',
  }),
  page('imports', () => import('./imports/list.tsx'), {
    title: { en: 'Imports', zh: '导入' },
    icon: <CloudUploadOutlined />,
    otherWords: 'upload csv excel 上传',
  }),
  page('imports/new', () => import('./imports/new.tsx')),
  page('imports/:id', () => import('./imports/import.tsx')),
  page('acts', () => import('./acts/list.tsx'), {
    title: { en: 'Bulk actions', zh: '批量操作' },
    icon: <ThunderboltOutlined />,
    otherWords: 'batch jobs 任务 批处理',
  }),
  page('acts/:id', () => import('./acts/act.tsx')),
  page('events', () => import('./events/events.tsx'), {
    title: { en: 'Events', zh: '事件' },
    icon: <AuditOutlined />,
    otherWords: 'audit trail log history 审计 日志 历史 操作记录',
  }),
  page('deliveries', () => import('./deliveries/deliveries.tsx'), {
    title: { en: 'Deliveries', zh: '回调投递' },
    icon: <SendOutlined />,
    otherWords: 'callbacks webhooks 回调 推送',
  }),
  page('refusals', () => import('./refusals/refusals.tsx'), {
    title: { en: 'Refused requests', zh: '被拒绝的请求' },
    icon: <StopOutlined />,
    otherWords: 'errors failures 错误 失败',
  }),
  page('people', () => import('./people/people.tsx'), {
    title: { en: 'Accounts and keys', zh: '账号与密钥' },
    icon: <TeamOutlined />,
    needs: pageOperators,
    otherWords: 'operators accounts users api keys operator keys roles sessions 账号 用户 角色 会话 api 密钥 运营密钥',
  }),
  page('service', () => import('./service/service.tsx'), {
    title: { en: 'Service', zh: '服务' },
    icon: <DatabaseOutlined />,
    needs: getServiceDetail,
    otherWords: 'backup health disk certificate settings version database 备份 健康 磁盘 证书 设置 版本 数据库',
  }),
  page('account', () => import('./account/account.tsx'), {
    title: { en: 'Your account', zh: '我的账号' },
    otherWords:
      'second factor 2fa mfa passkeys recovery codes password sessions profile 第二验证因素 第二因素 双因素 两步验证 通行密钥 恢复码 密码 会话 个人',
  }),
  page('*', () => import('./ui/page/not-found.tsx')),
]

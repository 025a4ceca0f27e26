import {
  ApiOutlined,
  AppstoreOutlined,
  AuditOutlined,
  CloudUploadOutlined,
  ControlOutlined,
  DashboardOutlined,
  EnvironmentOutlined,
  InboxOutlined,
  MenuOutlined,
  PayCircleOutlined,
  ReadOutlined,
  SendOutlined,
  StopOutlined,
  TeamOutlined,
  ThunderboltOutlined,
  UserOutlined,
} from '@ant-design/icons'
import { useQueryClient } from '@tanstack/react-query'
import { Button } from 'antd'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { Link, Outlet, useLocation, useNavigate } from 'react-router'
import { pageDeviceModels } from '../../src/devices/models/contract.ts'
import { pageOperators } from '../../src/people/operators/contract.ts'
import { deleteSession } from '../../src/people/sessions/contract.ts'
import { getOverview } from '../../src/service/overview/contract.ts'
import { call, whenProofIsWanted } from './api.ts'
import { defineTexts } from './language/index.ts'
import { paths } from './paths.ts'
import { afterSessionChange, SignedIn, useMay, useSession } from './session.tsx'
import { Dropdown } from './ui/dropdown.tsx'
import { LeaveGuard, useLeave } from './ui/leaving.tsx'
import { LanguageSwitch, ShadeSwitch } from './ui/switches.tsx'

const useTexts = defineTexts(
  {
    overview: 'Overview',
    applications: 'Applications',
    sites: 'Sites',
    devices: 'Devices',
    billingRules: 'Billing rules',
    models: 'Models and inventory',
    imports: 'Imports',
    acts: 'Bulk acts',
    events: 'Events',
    deliveries: 'Deliveries',
    refusals: 'Refusals',
    people: 'People and keys',
    reference: 'Guides and API',
    menu: 'Menu',
    skip: 'To the content',
    account: 'Your account',
    signOut: 'Sign out',
    role_admin: 'Admin',
    role_operator: 'Operator',
    role_viewer: 'Viewer',
    role_developer: 'Developer',
  },
  {
    overview: '概览',
    applications: '应用',
    sites: '站点',
    devices: '设备',
    billingRules: '计费规则',
    models: '型号与库存',
    imports: '导入',
    acts: '批量操作',
    events: '事件',
    deliveries: '回调投递',
    refusals: '拒绝记录',
    people: '人员与密钥',
    reference: '指南与接口',
    menu: '菜单',
    skip: '跳到内容',
    account: '我的账号',
    signOut: '退出登录',
    role_admin: '管理员',
    role_operator: '运营',
    role_viewer: '只读',
    role_developer: '开发者',
  },
)

interface Entry {
  key: string
  path: string
  icon: ReactNode
  text: Parameters<ReturnType<typeof useTexts>>[0]
  /** The page is hidden from users who may not call this operation. */
  isOpen?: boolean
}

const Drawer = lazy(() => import('antd/es/drawer'))

const ProofDialog = lazy(() => import('./account/proof.tsx').then((module) => ({ default: module.ProofDialog })))

/** The dialog for the proof that an act asks for. Acts that ask side by side share it. */
function Proof() {
  const [asked, setAsked] = useState<(isGiven: boolean) => void>()
  useEffect(() => {
    let current: Promise<boolean> | undefined
    whenProofIsWanted(() => {
      current ??= new Promise<boolean>((resolve) => setAsked(() => resolve)).finally(() => {
        current = undefined
        setAsked(undefined)
      })
      return current
    })
    return () => whenProofIsWanted(async () => false)
  }, [])
  if (asked === undefined) return null
  return (
    <Suspense fallback={null}>
      <ProofDialog onEnd={asked} />
    </Suspense>
  )
}

/** The frame of all pages behind sign-in: navigation at the left, or in a drawer on a narrow screen. */
export function Shell() {
  return (
    <SignedIn>
      <Frame />
    </SignedIn>
  )
}

function Frame() {
  const t = useTexts()
  // Undefined until it is first opened.
  const [isMenuOpen, setMenuOpen] = useState<boolean>()
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {t('skip')}
      </a>
      <header className="shell-bar">
        <Button
          className="shell-menu-button"
          type="text"
          icon={<MenuOutlined />}
          aria-label={t('menu')}
          onClick={() => setMenuOpen(true)}
        />
        <Link to={paths.overview()} className="shell-brand">
          <img src="/console/favicon.svg" alt="" width={24} height={24} />
          Forecourt
        </Link>
        <span style={{ flex: 1 }} />
        <LanguageSwitch />
        <ShadeSwitch />
        <AccountMenu />
      </header>
      <nav className="shell-side" aria-label={t('menu')}>
        <Navigation />
      </nav>
      {isMenuOpen !== undefined && (
        <Suspense fallback={null}>
          <Drawer open={isMenuOpen} onClose={() => setMenuOpen(false)} placement="left" size={280} title="Forecourt">
            <Navigation onGo={() => setMenuOpen(false)} />
          </Drawer>
        </Suspense>
      )}
      <main id="content" className="shell-content" tabIndex={-1}>
        <LeaveGuard />
        <Outlet />
      </main>
      <Proof />
    </div>
  )
}

function Navigation({ onGo }: { onGo?: () => void }) {
  const t = useTexts()
  const may = useMay()
  const { pathname } = useLocation()
  const entries: Entry[] = [
    {
      key: 'overview',
      path: paths.overview(),
      icon: <DashboardOutlined />,
      text: 'overview',
      isOpen: may(getOverview),
    },
    { key: 'applications', path: paths.applications(), icon: <AppstoreOutlined />, text: 'applications' },
    { key: 'sites', path: paths.sites(), icon: <EnvironmentOutlined />, text: 'sites' },
    { key: 'devices', path: paths.devices(), icon: <ControlOutlined />, text: 'devices' },
    { key: 'billing-rules', path: paths.billingRules(), icon: <PayCircleOutlined />, text: 'billingRules' },
    { key: 'models', path: paths.models(), icon: <InboxOutlined />, text: 'models', isOpen: may(pageDeviceModels) },
    { key: 'imports', path: paths.imports(), icon: <CloudUploadOutlined />, text: 'imports' },
    { key: 'acts', path: paths.acts(), icon: <ThunderboltOutlined />, text: 'acts' },
    { key: 'events', path: paths.events(), icon: <AuditOutlined />, text: 'events' },
    { key: 'deliveries', path: paths.deliveries(), icon: <SendOutlined />, text: 'deliveries' },
    { key: 'refusals', path: paths.refusals(), icon: <StopOutlined />, text: 'refusals' },
    { key: 'people', path: paths.people(), icon: <TeamOutlined />, text: 'people', isOpen: may(pageOperators) },
  ]
  const current = pathname.split('/')[2] || 'overview'
  return (
    <div className="shell-links">
      {entries
        .filter(({ isOpen }) => isOpen !== false)
        .map(({ key, path, icon, text }) => (
          <Link key={key} to={path} aria-current={key === current ? 'page' : undefined} onClick={onGo}>
            {icon} {t(text)}
          </Link>
        ))}
      <hr />
      <a href="/docs">
        <ReadOutlined /> {t('reference')}
      </a>
    </div>
  )
}

function AccountMenu() {
  const t = useTexts()
  const { name, role, operatorId } = useSession()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const leave = useLeave()

  async function signOut(): Promise<void> {
    // A session that has ended meanwhile is signed out too.
    const ended = await call(deleteSession, {}).catch(() => undefined)
    const signOutUrl = ended?.data.signOutUrl
    if (signOutUrl) return location.assign(signOutUrl)
    await navigate(paths.signIn(), { replace: true })
    afterSessionChange(queries)
  }

  return (
    <Dropdown
      menu={{
        items: [
          {
            key: 'who',
            disabled: true,
            icon: operatorId === null ? <ApiOutlined /> : <UserOutlined />,
            label: `${name} · ${t(`role_${role}` as 'role_admin')}`,
          },
          { type: 'divider' },
          { key: 'account', label: <Link to={paths.account()}>{t('account')}</Link> },
          { key: 'signOut', label: t('signOut'), onClick: () => leave(() => void signOut()) },
        ],
      }}
    >
      <Button type="text" icon={<UserOutlined />} aria-label={`${name} ${t('account')}`}>
        <span className="shell-name">{name}</span>
      </Button>
    </Dropdown>
  )
}

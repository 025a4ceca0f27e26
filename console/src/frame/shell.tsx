import {
  ApiOutlined,
  MenuFoldOutlined,
  MenuOutlined,
  MenuUnfoldOutlined,
  ReadOutlined,
  UserOutlined,
} from '@ant-design/icons'
import { useQueryClient } from '@tanstack/react-query'
import { Fragment, useEffect, useRef, useState } from 'react'
import { Link, Outlet, useLocation, useNavigate } from 'react-router'
import { deleteSession } from '../../../src/people/sessions/contract.ts'
import { afterSessionChange, call, useSession, whenProofIsWanted } from '../api/api.ts'
import { useSignal } from '../browser/hooks.ts'
import { store, stored } from '../browser/storage.ts'
import { defineTexts } from '../language/index.ts'
import { paths } from '../paths.ts'
import { Dialog } from '../ui/dialog/dialog.tsx'
import { Dropdown } from '../ui/dialog/dropdown.tsx'
import { LeaveGuard, useLeave } from '../ui/form/leaving.tsx'
import { Button } from '../ui/page/button.tsx'
import { Logo } from '../ui/page/logo.tsx'
import { NotRefreshed } from '../ui/page/not-refreshed.tsx'
import { part } from '../ui/page/part.tsx'
import { useScrollPlace } from '../ui/page/scroll.ts'
import { LanguageSwitch, ShadeSwitch } from '../ui/theme/switches.tsx'
import { appliedViews } from '../views/applied.ts'
import { Find } from './find/find.tsx'
import { useEntries } from './navigation.tsx'
import { SignedIn } from './signed-in.tsx'

const useTexts = defineTexts({
  menu: ['Menu', '菜单'],
  fold: ['Collapse menu', '收起菜单'],
  unfold: ['Expand menu', '展开菜单'],
  skip: ['Skip to content', '跳到内容'],
  skipToRows: ['Skip to table', '跳到表格'],
  account: ['Your account', '我的账号'],
  signOut: ['Sign out', '退出登录'],
})

const ProofDialog = part(async () => (await import('../account/proof.tsx')).ProofDialog)

/** The dialog for the proof that an operation needs. Several operations at the same time share it. */
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
  return <ProofDialog onEnd={asked} />
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
  useScrollPlace()
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isFolded, setFolded] = useState(() => stored(foldedKey) !== null)
  function fold(isToFold: boolean): void {
    store(foldedKey, isToFold ? '' : null)
    setFolded(isToFold)
  }
  const top = useRef<HTMLDivElement>(null)
  const { pathname } = useLocation()
  const shown = useRef(pathname)
  // Another page begins at its top, as a loaded one does. What keeps the focus within the content is a field that the
  // page has put it into, or the part of a page that leads to another part of it.
  useEffect(() => {
    if (shown.current === pathname) return
    shown.current = pathname
    const { current } = top
    if (current === null || document.activeElement?.closest('main :is(a, button, input, textarea)') != null) return
    // A screen reader says it.
    current.textContent = document.title
    current.focus()
  }, [pathname])
  return (
    <div className={isFolded ? 'shell shell-folded' : 'shell'}>
      <div ref={top} className="skip" tabIndex={-1} />
      <button type="button" className="skip" onClick={toContent}>
        {t('skip')}
      </button>
      <button type="button" className="skip skip-to-rows" onClick={toRows}>
        {t('skipToRows')}
      </button>
      <header className="shell-bar">
        <Button
          className="shell-menu-button"
          type="text"
          icon={<MenuOutlined />}
          aria-label={t('menu')}
          onClick={() => setMenuOpen(true)}
        />
        <Link to={paths.overview()} className="shell-brand" aria-label="Forecourt">
          <Logo size={24} />
          <span className="shell-brand-words">Forecourt</span>
        </Link>
        <span className="grows" />
        <Find />
        <LanguageSwitch />
        <ShadeSwitch />
        <AccountMenu />
      </header>
      <nav className="shell-side" aria-label={t('menu')}>
        <Navigation />
        <Button
          type="text"
          className="shell-fold"
          icon={isFolded ? <MenuUnfoldOutlined /> : <MenuFoldOutlined />}
          aria-label={isFolded ? t('unfold') : t('fold')}
          title={isFolded ? t('unfold') : t('fold')}
          onClick={() => fold(!isFolded)}
        />
      </nav>
      <Dialog isOpen={isMenuOpen} onClose={() => setMenuOpen(false)} side="left" width={280} title="Forecourt">
        <Navigation onGo={() => setMenuOpen(false)} />
      </Dialog>
      <main id="content" className="shell-content" tabIndex={-1}>
        <LeaveGuard />
        <NotRefreshed />
        <Fragment key={useSignal(appliedViews)}>
          <Outlet />
        </Fragment>
      </main>
      <Proof />
    </div>
  )
}

/** The key under which the browser stores that the menu is folded. */
const foldedKey = 'forecourt.menu.folded'

/** Not a link, because an entry of its own in the history would stand between a form and the page before it. */
function toContent(): void {
  document.getElementById('content')?.focus()
}

/** Focuses the first link or button of the first row of the page's table, or the table itself if it has no rows. */
function toRows(): void {
  const table = document.querySelector('main .rows')
  const first = table?.querySelector<HTMLElement>('tbody :is(a, button)') ?? table?.closest<HTMLElement>('.wide')
  first?.focus()
}

function Navigation({ onGo }: { onGo?: () => void }) {
  const t = useTexts()
  const entries = useEntries().filter(({ icon }) => icon !== undefined)
  const { pathname } = useLocation()
  const current = pathname.split('/')[2] || 'overview'
  return (
    <div className="shell-links">
      {entries.map(({ key, path, icon, title }) => (
        <Link key={key} to={path} title={title} aria-current={key === current ? 'page' : undefined} onClick={onGo}>
          {icon} <span>{title}</span>
        </Link>
      ))}
      <hr />
      <a href="/docs" title={t('docs')}>
        <ReadOutlined /> <span>{t('docs')}</span>
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
    // If the session has already ended, the user is signed out all the same.
    const ended = await call(deleteSession, {}).catch(() => undefined)
    await navigate(paths.signIn(), { replace: true })
    afterSessionChange(queries)
    // Only now, so that the way back from the provider leads to the sign-in and not to this page.
    const signOutUrl = ended?.data.signOutUrl
    if (signOutUrl) location.assign(signOutUrl)
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

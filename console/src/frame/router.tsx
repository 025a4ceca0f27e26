import { useLayoutEffect } from 'react'
import { createBrowserRouter, Outlet, type RouteObject } from 'react-router'
import { useCommon } from '../language/index.ts'
import { type PageRoute, pages, signedOutPages } from '../routes.tsx'
import { Button } from '../ui/page/button.tsx'
import { Result } from '../ui/page/result.tsx'
import { Shell } from './shell.tsx'

/** Shown when a page throws. */
const PageFault = () => <Fault />

/** Shown when a page’s file cannot be loaded, for example after an upgrade of the console. */
const MissingPage = () => <Fault isMissing />

function routeOf({ path, load, entry }: PageRoute): RouteObject {
  // If the chunk of the first page cannot be loaded, React Router shows nothing instead of the ErrorBoundary.
  const lazy = () =>
    load().then(
      ({ Page }) => ({ Component: Page }),
      () => ({ Component: MissingPage }),
    )
  return { path, lazy, handle: entry, ErrorBoundary: PageFault }
}

/** Holds every page. It is drawn with the first one, whose file may be there before; then the start screen of index.html goes. */
function Frame() {
  useLayoutEffect(() => document.querySelector('.boot')?.remove(), [])
  return <Outlet />
}

const routes: RouteObject[] = [
  {
    Component: Frame,
    ErrorBoundary: PageFault,
    HydrateFallback: () => null,
    children: [
      ...signedOutPages.map(routeOf),
      { path: '/console', Component: Shell, ErrorBoundary: PageFault, children: pages.map(routeOf) },
    ],
  },
]

/** Begins to load the page that the address names. */
export const createRouter = () => createBrowserRouter(routes)

function Fault({ isMissing = false }: { isMissing?: boolean }) {
  const t = useCommon()
  return (
    <Result
      status="error"
      title={t('broken')}
      subTitle={isMissing && t('newVersion')}
      extra={<Button onClick={() => location.reload()}>{t('reload')}</Button>}
    />
  )
}

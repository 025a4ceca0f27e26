import { useLayoutEffect } from 'react'
import { createBrowserRouter, Outlet, type RouteObject } from 'react-router'
import { Shell } from './frame/shell.tsx'
import { MissingPage, PageFault } from './ui/page/fault.tsx'

/** A page of its own chunk, loaded when it is first shown: the module exports the component as `Page`. */
function page(path: string, load: () => Promise<{ Page: () => React.ReactNode }>): RouteObject {
  // If the chunk of the first page cannot be loaded, React Router shows nothing instead of the ErrorBoundary.
  const component = () =>
    load().then(
      ({ Page }) => ({ Component: Page }),
      () => ({ Component: MissingPage }),
    )
  return { path, lazy: component, ErrorBoundary: PageFault }
}

/** Holds every page. It is drawn with the first one, whose file may be there before; then the start screen of index.html goes. */
function Frame() {
  useLayoutEffect(() => document.querySelector('.boot')?.remove(), [])
  return <Outlet />
}

/** The console's table of contents. */
const routes: RouteObject[] = [
  {
    Component: Frame,
    ErrorBoundary: PageFault,
    HydrateFallback: () => null,
    children: [
      page('/console/sign-in', () => import('./sign-in/sign-in.tsx')),
      page('/console/set-up', () => import('./sign-in/set-up.tsx')),
      {
        path: '/console',
        Component: Shell,
        ErrorBoundary: PageFault,
        children: [
          page('', () => import('./overview/overview.tsx')),
          page('account', () => import('./account/account.tsx')),
          page('applications', () => import('./applications/list.tsx')),
          page('applications/:appId', () => import('./applications/application.tsx')),
          page('applications/:appId/:tab', () => import('./applications/application.tsx')),
          page('sites', () => import('./sites/list.tsx')),
          page('sites/new', () => import('./sites/edit.tsx')),
          page('sites/:appId/:id', () => import('./sites/site.tsx')),
          page('sites/:appId/:id/edit', () => import('./sites/edit.tsx')),
          page('devices', () => import('./devices/list.tsx')),
          page('devices/new', () => import('./devices/edit.tsx')),
          page('devices/:appId/:deviceNo', () => import('./devices/device.tsx')),
          page('devices/:appId/:deviceNo/edit', () => import('./devices/edit.tsx')),
          page('billing-rules', () => import('./billing-rules/list.tsx')),
          page('billing-rules/new', () => import('./billing-rules/edit.tsx')),
          page('billing-rules/:appId/:id', () => import('./billing-rules/rule.tsx')),
          page('billing-rules/:appId/:id/edit', () => import('./billing-rules/edit.tsx')),
          page('billing-rules/:appId/:id/prices', () => import('./prices/new-terms.tsx')),
          page('price-changes', () => import('./prices/list.tsx')),
          page('models', () => import('./models/models.tsx')),
          page('regions', () => import('./regions/region-list.tsx')),
          page('imports', () => import('./imports/list.tsx')),
          page('imports/new', () => import('./imports/new.tsx')),
          page('imports/:id', () => import('./imports/import.tsx')),
          page('acts', () => import('./acts/list.tsx')),
          page('acts/:id', () => import('./acts/act.tsx')),
          page('events', () => import('./events/events.tsx')),
          page('deliveries', () => import('./deliveries/deliveries.tsx')),
          page('refusals', () => import('./refusals/refusals.tsx')),
          page('people', () => import('./people/people.tsx')),
          page('service', () => import('./service/service.tsx')),
          page('*', () => import('./ui/page/not-found.tsx')),
        ],
      },
    ],
  },
]

/** Begins to load the page that the address names. */
export const createRouter = () => createBrowserRouter(routes)

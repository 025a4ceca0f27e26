import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { RouterProvider } from 'react-router/dom'
import { ForecourtError } from '../../sdk/src/error.ts'
import { readingSession } from './api/api.ts'
import { watchOutages } from './api/outages.ts'
import { watchComposing } from './browser/composing.ts'
import { nextTask } from './browser/next-task.ts'
import { createRouter } from './frame/router.tsx'
import 'antd/dist/antd.css'
import './style.css'
import { Theme } from './ui/theme/theme.tsx'

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // A refusal would only be repeated; a request that got no response may succeed the next time.
      retry: (failures, error) => error instanceof ForecourtError && error.status === 0 && failures < 2,
      staleTime: 5_000,
      // Without a connection a request fails at once. By default it would wait for one, and a write that was given up
      // would be sent later.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})

void start()

/** Each step is a task of its own, so that the browser responds to the user between them. */
async function start(): Promise<void> {
  await nextTask()
  // early.ts has asked for the session already.
  if (!/^\/console\/(sign-in|set-up)/.test(location.pathname)) void queries.prefetchQuery(readingSession)
  watchComposing()
  watchOutages(queries)
  keepDropsHere()
  await nextTask()
  const router = createRouter()
  await nextTask()
  // In a transition React draws in slices of some milliseconds.
  startTransition(() =>
    createRoot(document.getElementById('root') as HTMLElement).render(
      <StrictMode>
        <QueryClientProvider client={queries}>
          <Theme>
            <RouterProvider router={router} />
          </Theme>
        </QueryClientProvider>
      </StrictMode>,
    ),
  )
}

/** A file that is dropped beside its place would be opened in the place of the page. */
function keepDropsHere(): void {
  for (const type of ['dragover', 'drop'] as const) {
    addEventListener(type, (event) => {
      const hasFiles = event.dataTransfer?.types.includes('Files') ?? false
      if (!hasFiles || event.defaultPrevented) return
      event.preventDefault()
      if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'none'
    })
  }
}

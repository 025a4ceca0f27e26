import { type AppOptions, createApp } from './app.ts'
import { listen } from './http/listen.ts'
import type { Lifetime } from './process/lifetime.ts'

/** Serves in this process until its lifetime ends. Answers the address. */
export async function startServer(life: Lifetime, parts: AppOptions): Promise<string> {
  const { config, log } = parts
  const app = createApp(parts)
  life.onStop(() => app.stop())
  const listener = await listen(config.host, config.port, app.handler, { log, isShared: config.workers > 1 })
  // Together: a test of a callback is a request that ends with its attempt.
  life.onStop(() => Promise.all([app.stopCallbacks(), listener.stop()]))
  return listener.url
}

import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Chromium without windows of its own needs half of the processor time; both draw pages by the same engine. */
const known = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

/** FORECOURT_TEST_CHROMIUM, or what Debian installs; undefined where there is none. */
export const chromiumPath = [process.env.FORECOURT_TEST_CHROMIUM ?? known].flat().find((path) => existsSync(path))

export function launchChromium(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error(`no Chromium: not ${known.join(', nor ')}`)
  // A page lives too short for code to be optimised, and the same code is loaded again and again. Threads beside a
  // page's own would only take turns with it on a machine that is busy.
  const args = [
    '--js-flags=--no-opt --single-threaded --no-flush-bytecode --min-semi-space-size=32',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
  ]
  return chromium.launch({
    executablePath: chromiumPath,
    args: [...args, '--disable-component-update', '--disable-sync'],
  })
}

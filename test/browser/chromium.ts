import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** The headless shell needs half the processor time of the full browser; both use the same rendering engine. */
const known = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

/** FORECOURT_TEST_CHROMIUM, or the program that Debian installs; undefined without either. */
export const chromiumPath = [process.env.FORECOURT_TEST_CHROMIUM ?? known].flat().find((path) => existsSync(path))

/** For tests. For measurements (`isSlim` false) the browser compiles and runs scripts as it does for people. */
export function launchChromium(isSlim = true): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error(`no Chromium: not ${known.join(', nor ')}`)
  // A page is open too briefly to profit from optimised code, and the same code is loaded again and again. On a busy
  // machine, more threads would only compete with the page's own thread.
  const scripts = isSlim ? ['--js-flags=--no-opt --single-threaded --no-flush-bytecode --min-semi-space-size=32'] : []
  const args = [
    ...scripts,
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

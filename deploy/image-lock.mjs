// Makes the lock of what the image installs: the packed service, and of the checkout's package-lock.json all that the
// service needs, in the very versions and with the digests that are locked there. `npm ci` then installs just that.
//
//   node deploy/image-lock.mjs FORECOURT.tgz FOLDER     writes FOLDER/package.json and FOLDER/package-lock.json
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const [tarball, folder] = process.argv.slice(2).map((path) => resolve(path))
const read = (name) => JSON.parse(readFileSync(join(import.meta.dirname, '..', name), 'utf8'))
const { packages } = read('package-lock.json')
const manifest = read('package.json')

/** Where a package that lies at a path finds another, as Node looks for it. */
function find(from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`
    if (path in packages) return path
    if (at === '') return undefined
  }
}

const needed = new Map()
const bundled = new Set(manifest.bundleDependencies)
function take(from, names) {
  for (const name of names) {
    const path = find(from, name)
    if (path === undefined || needed.has(path)) continue
    const { dev: _, ...entry } = packages[path]
    needed.set(path, entry)
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = entry
    const peers = Object.keys(peerDependencies ?? {}).filter((peer) => !peerDependenciesMeta?.[peer]?.optional)
    take(path, [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers])
  }
}
const { name, version, license, bin, engines, dependencies, optionalDependencies, bundleDependencies } = manifest
// What the tarball bundles comes with it. The optional ones are PostgreSQL's for each platform: npm installs one of them.
take(
  '',
  Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !bundled.has(name)),
)

const installation = {
  name: 'installation',
  version: '1.0.0',
  private: true,
  dependencies: { [name]: `file:${tarball}` },
}
const integrity = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`
const needs = { dependencies, optionalDependencies, bundleDependencies }
const own = { version, resolved: `file:${tarball}`, integrity, license, ...needs, bin, engines }
const within = bundleDependencies.map((bundle) => [
  `node_modules/${name}/node_modules/${bundle}`,
  { ...packages[`node_modules/${bundle}`], inBundle: true },
])
const lock = {
  name: installation.name,
  version: installation.version,
  lockfileVersion: 3,
  requires: true,
  packages: {
    '': installation,
    [`node_modules/${name}`]: own,
    ...Object.fromEntries([...within, ...[...needed].sort(([a], [b]) => (a < b ? -1 : 1))]),
  },
}
const write = (file, value) => writeFileSync(join(folder, file), `${JSON.stringify(value, null, 2)}\n`)
write('package.json', installation)
write('package-lock.json', lock)

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { projectFolder } from '../test/kit/folders.ts'
import { install } from '../test/kit/installed.ts'
import { driverPedigree } from './driver-patch.ts'
import { architectures, makeImage } from './image.ts'

// Makes the parts of a release in release/: the tarballs of service and SDK, the bill of materials, the container images
// and the digests of all.
// `npm run release` refuses what docs/recipes/release.md forbids for a release.

interface Component {
  'bom-ref': string
  name: string
  version: string
  purl: string
  type?: string
  externalReferences?: unknown[]
  pedigree?: unknown
}
interface Bill {
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

const read = (name: string) => readFileSync(join(projectFolder, name), 'utf8')
const npm = (args: string[], cwd = projectFolder) => execFileSync('npm', args, { cwd, encoding: 'utf8' })

function refuse(why: string): never {
  console.error(`No release: ${why}`)
  process.exit(1)
}

const { version } = JSON.parse(read('package.json'))
for (const name of ['console/package.json', 'patches/package.json', 'sdk/package.json', 'package-lock.json']) {
  if (JSON.parse(read(name)).version !== version) refuse(`${name} has another version than package.json, ${version}.`)
}
if (JSON.parse(read('openapi.json')).info.version !== version) refuse('openapi.json is old: npm run generate.')
const changes = read('CHANGELOG.md')
const heading = new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d\\d-\\d\\d$`, 'm')
if (!heading.test(changes)) refuse(`CHANGELOG.md has no heading “## [${version}] - YYYY-MM-DD”.`)
const unreleased = /^## \[Unreleased\]\n([\s\S]*?)^## /m.exec(changes)?.[1]
if (unreleased?.trim() !== '') refuse('CHANGELOG.md has entries under “Unreleased”. Give them this version.')
if (!existsSync(join(projectFolder, 'test', 'releases', version)))
  refuse(`test/releases/${version} is missing: bun scripts/keep-release.ts`)
const changed = execFileSync('git', ['status', '--porcelain'], { cwd: projectFolder, encoding: 'utf8' })
if (changed !== '') refuse(`something is not committed:\n${changed}`)

const folder = join(projectFolder, 'release')
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
const filename = packed()
const tarball = join(folder, filename)
const bill = billOf(tarball)
const billPath = join(folder, `forecourt-${version}.cdx.json`)
writeFileSync(billPath, `${JSON.stringify(bill, null, 2)}\n`)
const sdk = join(folder, packed('--workspace', 'sdk'))
const images = architectures.map((architecture) => makeImage(tarball, architecture, folder))
const digests = [tarball, sdk, billPath, ...images.flatMap(({ path, list }) => [path, list])].map(
  (path) => `${createHash('sha256').update(readFileSync(path)).digest('hex')}  ${basename(path)}\n`,
)
writeFileSync(join(folder, 'SHA256SUMS'), digests.join(''))
for (const { path, digest } of images) console.log(`${basename(path)} is the image ${digest}`)
console.log(`${digests.join('')}${bill.components.length} packages in the bill of materials`)

/** Packs the service, or the workspace that is named, and returns the name of the tarball. */
function packed(...workspace: string[]): string {
  const printed = npm(['pack', '--json', '--silent', '--pack-destination', folder, ...workspace])
  const [{ filename }] = JSON.parse(printed.replace(/^[^[]*/, ''))
  return filename
}

/** What npm installs from the tarball, for every platform, as CycloneDX. */
function billOf(path: string): Bill {
  const place = mkdtempSync(join(tmpdir(), 'forecourt-release-'))
  try {
    if (!install(path, place)) refuse('without the registry there is no bill of materials.')
    const bill: Bill = JSON.parse(npm(['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], place))
    const known = new Set(bill.components.map((component) => `${component.name}@${component.version}`))
    const { packages } = JSON.parse(readFileSync(join(place, 'node_modules', '.package-lock.json'), 'utf8'))
    for (const [at, installed] of Object.entries<{ version: string }>(packages)) {
      const name = `${at.split('node_modules/').at(-1)}@${installed.version}`
      if (!known.has(name)) refuse(`the bill of materials lacks ${name}.`)
    }
    return ofPackage(bill)
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

/**
 * npm describes the folder into which the package was installed; the bill of materials must describe the package itself.
 */
function ofPackage(bill: Bill): Bill {
  const own = bill.components.find(({ name }) => name === 'forecourt') ?? refuse('the bill does not name forecourt.')
  const root = bill.metadata.component['bom-ref']
  const distribution = { type: 'distribution', url: filename }
  return {
    ...bill,
    metadata: { ...bill.metadata, component: { ...own, type: 'application', externalReferences: [distribution] } },
    components: bill.components.filter((component) => component !== own).map(withPedigree),
    dependencies: bill.dependencies.filter(({ ref }) => ref !== root),
  }
}

/** The patched driver differs from its published version; the pedigree says how. */
function withPedigree(component: Component): Component {
  const patch = `patches/${component.name}+${component.version}.patch`
  return component.name === 'postgres' ? { ...component, pedigree: driverPedigree(patch) } : component
}

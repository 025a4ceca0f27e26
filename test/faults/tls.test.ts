import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { chownSync, copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/database/open.ts'
import { serverUser } from '../../src/embedded/user.ts'
import { hasOldestPostgres, withSql } from '../kit/database.ts'
import { OldestServer } from '../kit/oldest-server.ts'
import { freePort } from '../kit/replicated.ts'
import { atScale, longTest } from '../kit/scale.ts'
import { waitUntil } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'
import { endOfStart, hasProcesses } from './part-of-start.ts'

// TLS to the database: what each sslmode verifies, with a real server and a real certificate.

const place = new Workplace()
const user = serverUser()
const inHome = (name: string) => join(place.home, name)
const folder = inHome('server')
let port = 0
let server: OldestServer | undefined

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { cwd: place.home, stdio: 'pipe' })
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

function makeAuthority(name: string): void {
  const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`]
  openssl('req', '-x509', ...newKey, '-days', '2', '-subj', `/CN=${name}`, ...files)
}

/** Creates a server's certificate for a host name or an address, signed by the authority `ours`. */
function makeCertificate(name: string, subject: string): void {
  openssl('req', ...newKey, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`)
  writeFileSync(inHome(`${name}.ext`), `subjectAltName=${subject}\n`)
  const by = ['-CA', 'ours.pem', '-CAkey', 'ours.key', '-CAcreateserial', '-days', '2', '-extfile', `${name}.ext`]
  openssl('x509', '-req', '-in', `${name}.csr`, ...by, '-out', `${name}.pem`)
}

const onSocket = { host: folder, user: 'forecourt', password: '', database: 'postgres' }

/** Makes the server use this certificate from now on. */
async function show(name: string): Promise<void> {
  for (const end of ['pem', 'key']) {
    const path = inHome(`server.${end}`)
    copyFileSync(inHome(`${name}.${end}`), path)
    if (user !== undefined) chownSync(path, user.uid, user.gid)
  }
  if (server === undefined) return
  await withSql({ ...onSocket, port }, (sql) => sql`select pg_reload_conf()`)
  const shown = () => {
    const asked = ['s_client', '-connect', `127.0.0.1:${port}`, '-starttls', 'postgres']
    return execFileSync('openssl', asked, { input: '', stdio: ['pipe', 'pipe', 'ignore'], encoding: 'utf8' })
  }
  await waitUntil(() => shown().includes(`CN = ${name}\n`))
}

beforeAll(async () => {
  if (!hasOldestPostgres) return
  if (user !== undefined) chownSync(place.home, user.uid, user.gid)
  makeAuthority('ours')
  makeAuthority('another')
  makeCertificate('named', 'DNS:localhost')
  makeCertificate('numbered', 'IP:127.0.0.1')
  makeCertificate('elsewhere', 'DNS:database.example.org')
  await show('named')
  // Network connections without TLS are refused.
  const admitted = ['local all all trust', 'hostssl all limited all scram-sha-256', 'hostssl all all all trust']
  writeFileSync(inHome('hba.conf'), `${admitted.join('\n')}\n`)
  port = await freePort()
  const tls = ['ssl=on', `ssl_cert_file=${inHome('server.pem')}`, `ssl_key_file=${inHome('server.key')}`]
  const network = [`port=${port}`, 'listen_addresses=127.0.0.1', `hba_file=${inHome('hba.conf')}`]
  server = await OldestServer.start(folder, [...tls, ...network], port)
}, 120_000)
afterAll(async () => {
  await server?.stop()
  await place.clear()
}, 120_000)

const away = /^Can’t connect to the database: [^\n]+\.\n$/
const urlTo = (hosts: string, query: string) => `postgres://forecourt@${hosts}/postgres?${query}`
const ours = () => `sslrootcert=${encodeURIComponent(inHome('ours.pem'))}`
const another = () => `sslrootcert=${encodeURIComponent(inHome('another.pem'))}`

async function expectStarts(url: string): Promise<void> {
  if (hasProcesses) return expectServes(url)
  expect(await endOfStart(place.newFolder(), { DATABASE_URL: url }), url).toMatchObject({ code: 0 })
  const sql = openDatabase({ target: url, connections: 1, statementTimeoutMs: 10_000 })
  const own = await sql`select ssl, version from pg_stat_ssl where pid = pg_backend_pid()`
  await sql.end()
  expect(own).toMatchObject([{ ssl: true, version: 'TLSv1.3' }])
}

async function expectServes(url: string): Promise<void> {
  const service = await place.startService({ env: { DATABASE_URL: url } })
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  const connections = await withSql(
    { ...onSocket, port },
    (sql) => sql`
    select ssl, version from pg_stat_ssl join pg_stat_activity using (pid) where application_name like 'forecourt %'`,
  )
  expect(connections.length).toBeGreaterThan(0)
  expect(connections.filter(({ ssl, version }) => !ssl || version !== 'TLSv1.3')).toEqual([])
  expect(await service.stop()).toBe(0)
}

async function expectRefused(url: string, words: RegExp, waitSeconds = 0): Promise<void> {
  const env = { DATABASE_URL: url, FORECOURT_DATABASE_WAIT_SECONDS: String(waitSeconds) }
  const ended = await endOfStart(place.newFolder(), env)
  expect([ended.code, ended.stdout]).toEqual([1, ''])
  expect(ended.stderr.replaceAll(/^\{.*\}\n/gm, '')).toMatch(words)
}

/** The certificate that a server shows, the hosts and the parameters of a URL, and the refusal where it leads to one. */
type Case = [certificate: string, hosts: string, query: string, refused?: RegExp]
const cases: Case[] = [
  ['named', 'localhost:PORT', 'sslmode=verify-full&OURS'],
  ['named', 'localhost:PORT', 'OURS'],
  ['named', 'localhost:PORT', 'sslmode=verify-full&ANOTHER', away],
  // What no authority of the system has signed.
  ['named', 'localhost:PORT', 'sslmode=verify-full', away],
  ['elsewhere', 'localhost:PORT', 'sslmode=verify-full&OURS', away],
  ['elsewhere', 'localhost:PORT', 'sslmode=require'],
  ['elsewhere', 'localhost:PORT', 'sslmode=prefer'],
  ['elsewhere', 'localhost:PORT', 'sslmode=disable', /no encryption/],
  ['elsewhere', 'localhost:PORT', '', /no encryption/],
]
const casesOfLongRun: Case[] = [
  // Each of several hosts is held to its own name, and an address to the certificate's addresses.
  ['named', 'localhost:1,localhost:PORT', 'sslmode=verify-full&OURS'],
  ['named', 'localhost:1,localhost:PORT', 'sslmode=verify-full&ANOTHER', away],
  ['named', '127.0.0.1:PORT', 'sslmode=verify-full&OURS', away],
  ['numbered', '127.0.0.1:PORT', 'sslmode=verify-full&OURS'],
  ['elsewhere', 'localhost:1,localhost:PORT', 'sslmode=verify-full&OURS', away],
  // These modes hold it to the authority alone.
  ['elsewhere', 'localhost:PORT', 'sslmode=verify-ca&OURS'],
  ['elsewhere', 'localhost:PORT', 'sslmode=verify-ca&ANOTHER', away],
  ['elsewhere', 'localhost:PORT', 'sslmode=require&OURS'],
  ['elsewhere', 'localhost:PORT', 'sslmode=require&ANOTHER', away],
]

describe.skipIf(!hasOldestPostgres)('TLS to the database', () => {
  test('of a service that serves is TLS 1.3 over all its connections', async () => {
    await show('named')
    await expectServes(urlTo(`localhost:${port}`, `sslmode=verify-full&${ours()}`))
  })

  test('each mode verifies what it says', async () => {
    for (const [certificate, hosts, query, refused] of [...cases, ...atScale([], casesOfLongRun)]) {
      await show(certificate)
      const asked = query.replace('OURS', ours()).replace('ANOTHER', another())
      const url = urlTo(hosts.replaceAll('PORT', String(port)), asked)
      await (refused === undefined ? expectStarts(url) : expectRefused(url, refused))
    }
  }, 300_000)

  test('what no waiting mends is refused at once in the words of the database, of one host and of several', async () => {
    await show('named')
    await withSql({ ...onSocket, port }, (sql) => sql`create role limited login password 'right'`)
    const began = performance.now()
    for (const hosts of [`localhost:${port}`, `localhost:1,localhost:${port}`]) {
      const wrong = `postgres://limited:wrong@${hosts}/postgres?sslmode=require`
      await expectRefused(wrong, /: password authentication failed for user "limited" \(/, 600)
      await expectRefused(urlTo(hosts, `sslmode=verify-full&${another()}`), /certificate/, 600)
    }
    expect(performance.now() - began).toBeLessThan(120_000)
  }, 240_000)

  longTest('over a socket of this machine there is no TLS, whatever the mode', async () => {
    const socket = `host=${encodeURIComponent(folder)}&port=${port}`
    const service = await place.startService({
      env: { DATABASE_URL: urlTo('localhost', `${socket}&sslmode=verify-full`) },
    })
    expect(await service.stop()).toBe(0)
  })

  test('a mode that is none, and a file that is not there, are told', async () => {
    await expectRefused(
      urlTo(`localhost:${port}`, 'sslmode=verify_full'),
      /^The sslmode of DATABASE_URL must be one of /,
    )
    await expectRefused(
      urlTo(`localhost:${port}`, 'sslmode=verify-full&sslrootcert=/nowhere.pem'),
      /^Can’t read \/nowhere\.pem \(ENOENT\), the sslrootcert in DATABASE_URL\.\n$/,
    )
    writeFileSync(inHome('none.pem'), '-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n')
    for (const file of ['/etc/hostname', inHome('none.pem')]) {
      await expectRefused(
        urlTo(`localhost:${port}`, `sslmode=require&sslrootcert=${encodeURIComponent(file)}`),
        /^\/[^\n]+, the sslrootcert in DATABASE_URL, has no PEM certificate\.\n$/,
      )
    }
  })
})

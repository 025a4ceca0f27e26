// Shows what each hunk of the database driver's patch is for, with a real server and a proxy that can interrupt the
// connection. Runs on Bun and on Node:
//
//   DRIVER_TEST_SERVER='{"host":…,"port":…,"user":…,"password":…,"database":…}' bun scenarios.mjs NAME DRIVER
//
// Exits with 0 when the driver behaves as the scenario requires.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createSecureContext, TLSSocket } from 'node:tls'

const [, , name, driver] = process.argv
const { default: postgres } = await import(driver)
const { host, port, ...login } = JSON.parse(process.env.DRIVER_TEST_SERVER ?? '{}')
const server = host.startsWith('/') ? { path: join(host, `.s.PGSQL.${port}`) } : { host, port }

/** A proxy between the driver and the server, which a scenario can interrupt. */
const link = {
  /** The types of the messages that the driver sent, with `Z` for each `ReadyForQuery` of the server, in order. */
  log: [],
  /** The number of further bytes from the server that are passed on; then the connection is closed. */
  left: Number.POSITIVE_INFINITY,
  pairs: new Set(),
  /** Ends every connection, if asked with a reset, as a rebooted machine does. */
  cut({ isReset = false } = {}) {
    for (const { near, far } of link.pairs) {
      isReset ? near.resetAndDestroy() : near.destroy()
      far.destroy()
    }
    link.pairs.clear()
  },
}

/** The types of the messages in a chunk of one side's bytes. */
function messages(chunk) {
  const types = []
  for (let at = 0; at + 5 <= chunk.length; at += 1 + chunk.readUInt32BE(at + 1)) {
    types.push(String.fromCharCode(chunk[at]))
  }
  return types
}

const listener = createServer((near) => {
  const far = connect(server)
  const pair = { near, far }
  link.pairs.add(pair)
  let isStarted = false
  near.on('data', (chunk) => {
    if (isStarted) link.log.push(...messages(chunk))
    isStarted = true
    far.write(chunk)
  })
  far.on('data', (chunk) => {
    link.log.push(...messages(chunk).filter((type) => type === 'Z'))
    near.write(chunk.subarray(0, link.left))
    link.left -= chunk.length
    if (link.left <= 0) near.end()
  })
  for (const [one, other] of [
    [near, far],
    [far, near],
  ]) {
    one.on('error', () => {})
    one.on('close', () => other.destroy())
  }
})
listener.listen(0, '127.0.0.1')
await once(listener, 'listening')

const open = (more = {}) =>
  postgres({
    ...login,
    host: '127.0.0.1',
    port: listener.address().port,
    max: 1,
    backoff: 0.01,
    fetch_types: false,
    onnotice: () => {},
    ...more,
  })

/** Settles like the promise, or rejects when the promise has not settled in time. */
function within(promise, ms = 2_000) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing after ${ms} ms`)), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
/** The result of a query: its rows, or the code or message of its error. */
const outcome = (query) =>
  within(
    query.then(
      (rows) => [...rows],
      (error) => error.code ?? error.message,
    ),
  )
const backendOf = async (sql) => (await sql`select pg_backend_pid() as pid`)[0].pid

const scenarios = {
  async 'a connection shows what it waits for, and a cut fails its query'() {
    const sql = open()
    await sql`select 1`
    const [connection] = sql.connections
    const heard = connection.heard
    assert.ok(heard > 0)
    assert.ok(!connection.query)
    const slow = outcome(sql`select pg_sleep(5)`)
    await sleep(100)
    assert.match(connection.query.string, /pg_sleep/)
    connection.cut(Object.assign(new Error('it was silent'), { code: 'SILENT' }))
    assert.equal(await slow, 'SILENT')
    // The socket ends after the error.
    await sleep(100)
    assert.deepEqual(await outcome(sql`select 1 as one`), [{ one: 1 }])
  },

  async 'without prepared statements, nothing is sent behind a query'() {
    const sql = open({ prepare: false })
    await sql`select 1`
    link.log.length = 0
    await Promise.all([sql`select pg_sleep(0.1)`, sql`select 2`])
    const sent = link.log.join('')
    assert.match(sent, /P.*Z.*P.*Z/)
    assert.doesNotMatch(sent, /P[^Z]*P/)
  },

  async 'a query on a reserved connection that is gone fails, and the process lives on'() {
    const sql = open()
    // When the driver has no types to fetch, it can only reserve a connection that is open already.
    await sql`select 1`
    const reserved = await sql.reserve()
    link.cut()
    await sleep(100)
    assert.equal(await outcome(reserved`select 2`), 'CONNECTION_CLOSED')
  },

  async 'the certificate is verified for the address that was given'() {
    const folder = mkdtempSync(join(tmpdir(), 'fc-'))
    const [key, cert] = ['key', 'pem'].map((end) => join(folder, `server.${end}`))
    const subject = ['-subj', '/CN=server', '-addext', 'subjectAltName=IP:127.0.0.1']
    const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    execFileSync('openssl', ['req', '-x509', ...made, ...subject, '-keyout', key, '-out', cert], { stdio: 'pipe' })
    const files = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
    rmSync(folder, { recursive: true })
    const asked = createServer((socket) => {
      socket.on('error', () => {})
      // The driver's request for TLS.
      socket.once('data', () => {
        socket.write('S')
        const secured = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(files) })
        secured.on('error', () => {})
        const far = connect(server)
        far.on('error', () => {})
        secured.pipe(far).pipe(secured)
      })
    })
    asked.listen(0, '127.0.0.1')
    await once(asked, 'listening')
    const sql = open({ port: asked.address().port, ssl: { ca: files.cert, rejectUnauthorized: true } })
    assert.deepEqual(await outcome(sql`select 1 as one`), [{ one: 1 }])
  },

  async 'a reply waits while there is doubt, and is never read when the server is not believed'() {
    const doubts = []
    let isDoubted = false
    const sql = open()
    sql.options.doubt = () => (isDoubted ? new Promise((resolve) => doubts.push(resolve)) : undefined)
    await sql`select 1`
    isDoubted = true
    let isThere = false
    const kept = outcome(sql`select 1 as one`).finally(() => {
      isThere = true
    })
    await sleep(200)
    assert.equal(doubts.length, 1)
    assert.equal(isThere, false)
    doubts.pop()(true)
    assert.deepEqual(await kept, [{ one: 1 }])
    const refused = outcome(sql`select 2 as two`)
    await sleep(100)
    doubts.pop()(false)
    isDoubted = false
    assert.equal(await refused, 'CONNECTION_CLOSED')
  },

  async 'the end of a COPY that the server refuses fails the copy'() {
    const sql = open()
    await sql`create temp table copied (number int check (number < 2))`
    const rows = Readable.from(['1\n', '2\n'])
    const into = await sql`copy copied from stdin`.writable()
    await assert.rejects(within(pipeline(rows, into)), /copied_number_check/)
  },

  async 'nothing of a reply that was cut off is left for the next query'() {
    const sql = open()
    await sql`select 1`
    link.left = 20_000
    const cutOff = await outcome(sql`select i, repeat('x', 1000) as text from generate_series(1, 1000) as i`)
    assert.equal(cutOff, 'CONNECTION_CLOSED')
    link.left = Number.POSITIVE_INFINITY
    assert.deepEqual(await outcome(sql`select 1 as one`), [{ one: 1 }])
  },

  async 'a query that is sent between a reset and its close fails'() {
    const sql = open()
    await sql`select 1`
    const next = sql`select pg_sleep(5)`.then(
      () => 'it was answered',
      () => outcome(sql`select 2`),
    )
    await sleep(100)
    link.cut({ isReset: true })
    assert.equal(await within(next, 3_000), 'CONNECTION_CLOSED')
  },

  async 'a reply that says read-only ends the connection'() {
    const sql = open({ connection: { default_transaction_read_only: 'on' } })
    const before = await backendOf(sql)
    assert.equal(await outcome(sql`create table never (id int)`), '25006')
    await sleep(100)
    assert.notEqual(await within(backendOf(sql)), before)
  },

  async 'a query that fails behind some of its rows leaves the next one whole'() {
    const sql = open()
    const some = sql`select 1 / (500 - i) as one, repeat('x', 1000) as text from generate_series(1, 1000) as i`
    const behind = sql`select 1 as one`
    assert.equal(await outcome(some), '22012')
    assert.deepEqual(await outcome(behind), [{ one: 1 }])
    const endless = sql`select i, repeat('x', 1000) as text from generate_series(1, 100000000) as i`.execute()
    await sleep(300)
    endless.cancel()
    assert.equal(await within(outcome(endless), 10_000), '57014')
    assert.deepEqual(await outcome(sql`select 2 as two`), [{ two: 2 }])
  },

  async 'queries that wait in a transaction fail when its connection ends'() {
    const sql = open()
    const waiting = []
    const transaction = sql.begin(async (tx) => {
      // A query with a parameter is described first, so the queries behind it wait.
      waiting.push(outcome(tx`select pg_sleep(${5})`), outcome(tx`select 2`), outcome(tx`select 3`))
      await sleep(100)
      link.cut()
      return Promise.all(waiting)
    })
    assert.equal(await outcome(transaction), 'CONNECTION_CLOSED')
    assert.deepEqual(
      await Promise.all(waiting),
      Array.from({ length: 3 }, () => 'CONNECTION_CLOSED'),
    )
  },

  async 'a transaction that lost its connection writes nothing on the next one'() {
    const sql = open()
    await sql`drop table if exists written`
    await sql`create table written (id int)`
    let tell
    // The transaction may fail before its function gets there.
    const late = new Promise((resolve) => {
      tell = resolve
    })
    const transaction = sql.begin(async (tx) => {
      await tx`insert into written values (1)`
      link.cut()
      await sleep(100)
      // The pool's only connection is opened again.
      await sql`select 1`
      tell(await outcome(tx`insert into written values (2)`))
    })
    assert.equal(await outcome(transaction), 'CONNECTION_CLOSED')
    assert.equal(await late, 'CONNECTION_CLOSED')
    assert.deepEqual(await outcome(sql`select id from written`), [])
  },
}

try {
  await within(scenarios[name](), 5_000)
} catch (error) {
  console.error(error)
  process.exit(1)
}
process.exit(0)

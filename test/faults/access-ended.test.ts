import { beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { getActResult } from '../../src/bulk/acts/contract.ts'
import { createExport, createImport, getImportResult } from '../../src/bulk/contract.ts'
import { operations } from '../../src/reference/operations.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import {
  deviceBody,
  newApplication,
  newSerial,
  newToken,
  shownSecret,
  siteBody,
  type TestApplication,
} from '../kit/records.ts'
import { atScale } from '../kit/scale.ts'
import { newSignedIn } from '../kit/sessions.ts'
import { twoServices } from '../kit/two-services.ts'
import { sleep, waitUntil } from '../kit/waits.ts'

// An upload, a running import and an export each end within a second after their caller has lost access.

const {
  database,
  clients: [client],
} = await twoServices()
/** An application with many devices; `filledBy` is an import and `actedBy` an act with a long result. */
let full: TestApplication
let filledBy = 0
let actedBy = 0

/** Rows whose results are more than the buffers of a connection hold. */
const manyRows = atScale(12_000, 40_000)
const ndjson = { 'content-type': 'application/x-ndjson' }

/** A caller who may write for an application; `lose` takes that right away. */
interface Holder {
  appId: string
  headers: Record<string, string>
  lose(): Promise<unknown>
}

const ofApplication = async (app: TestApplication, lose: () => Promise<unknown>): Promise<Holder> => {
  const token = await newToken(client, app.appId, app.appSecret)
  return { appId: app.appId, headers: { authorization: `Bearer ${token}` }, lose }
}

const ofPerson = async (
  { appId }: TestApplication,
  role: string,
  lose: (id: number, headers: Record<string, string>) => Promise<unknown>,
): Promise<Holder> => {
  const { headers, ...person } = await newSignedIn(client, role, role === 'developer' ? [appId] : [])
  return { appId, headers, lose: () => lose(person.id, headers) }
}

const ofKey = async (
  { appId }: TestApplication,
  lose: (id: number, ownerId: number) => Promise<unknown>,
): Promise<Holder> => {
  const { headers, ...owner } = await newSignedIn(client, 'admin')
  const made = await client.call('createOperatorKey', { name: newSerial('key'), role: 'operator' }, { headers })
  const authorization = `Bearer ${shownSecret(made.data.operatorKey)}`
  return { appId, headers: { authorization }, lose: () => lose(made.data.id, owner.id) }
}

/** The ways to lose access: each creates a caller for an application. The last two change the application itself. */
const losses: Record<string, (app: TestApplication) => Promise<Holder>> = {
  'the membership of a developer': (app) =>
    ofPerson(app, 'developer', (id) => client.operate('updateOperator', { id, appIds: [] })),
  'the role of an operator, who then sees nothing': (app) =>
    ofPerson(app, 'operator', (id) => client.operate('updateOperator', { id, role: 'developer', appIds: [] })),
  'an account that is disabled': (app) =>
    ofPerson(app, 'operator', (id) => client.operate('updateOperator', { id, status: 2 })),
  'an account that is deleted': (app) => ofPerson(app, 'operator', (id) => client.operate('deleteOperator', { id })),
  'a session that is ended': (app) =>
    ofPerson(app, 'operator', async (_, headers) => {
      const { id } = (await client.call('getSession', {}, { headers })).data
      return client.operate('deleteSession', { id })
    }),
  'a key that is deleted': (app) => ofKey(app, (id) => client.operate('deleteOperatorKey', { id })),
  'a key whose owner is disabled': (app) =>
    ofKey(app, (_, ownerId) => client.operate('updateOperator', { id: ownerId, status: 2 })),
  'a token that is revoked': async ({ appId, appSecret }) => {
    const token = await newToken(client, appId, appSecret)
    const revoke = () => client.call('revokeToken', { client_id: appId, client_secret: appSecret, token })
    return { appId, headers: { authorization: `Bearer ${token}` }, lose: revoke }
  },
  'an application that is frozen': (app) =>
    ofApplication(app, async () => {
      await client.operate('freezeApplication', { appId: app.appId, reason: 'test' })
      // So long as what lasts may go on after the freeze.
      await sleep(1_100)
      return client.operate('unfreezeApplication', { appId: app.appId })
    }),
  'a secret that is rotated': (app) =>
    ofApplication(app, () => client.operate('rotateApplicationSecret', { appId: app.appId })),
}

const refusedAs = [10002, 10003, 10005]
/** A long member, so that few rows make a large file. */
const tag = '标'.repeat(512)
const rowsOf = (count: number) =>
  Array.from({ length: count }, () => JSON.stringify(deviceBody('', { tag }))).join('\n')

async function importRows({ appId, headers }: Omit<Holder, 'lose'>, count: number): Promise<number> {
  const sent = { kind: 'devices', appId, file: rowsOf(count) }
  const answer = await client.call('createImport', sent, { headers: { ...headers, ...ndjson } })
  expect(answer.code, answer.text).toBe(0)
  return answer.data.id
}

/** Requests a response, reads none of it and waits, so that the service cannot send all of it. */
async function standStill(path: string, headers: Record<string, string>) {
  const { hostname: host, port } = new URL(client.url)
  const socket = createConnection({ host, port: Number(port) })
  let taken = ''
  socket.setEncoding('latin1')
  socket.on('error', () => {})
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n${head.join('')}\r\n`)
  await new Promise<void>((resolve) => {
    socket.once('data', () => {
      socket.pause()
      resolve()
    })
    socket.on('data', (piece) => {
      taken += piece
    })
  })
  expect(taken).toStartWith('HTTP/1.1 200 ')
  const ended = new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
  })
  const isOpen = isEstablished(Number(port), socket.localPort ?? 0)
  return {
    /** Whether the service keeps the connection open although the client reads nothing. */
    isOpen,
    /** Reads the rest; returns whether the response is complete. */
    async isWhole() {
      socket.resume()
      await ended
      return taken.endsWith('\r\n0\r\n\r\n')
    },
  }
}

/**
 * Linux lists both ends of a connection; this finds the service's end by its local port. State 01 is an open
 * connection.
 */
const isEstablished = (port: number, peer: number) => {
  const ofPort = (value: number) => `0100007F:${value.toString(16).toUpperCase().padStart(4, '0')}`
  const line = `${ofPort(port)} ${ofPort(peer)} 01 `
  const isListed = () => readFileSync('/proc/net/tcp', 'utf8').includes(line)
  // A listing that is read while other connections come and go may leave one out.
  return () => isListed() || isListed() || isListed()
}

/**
 * Starts a long operation as a caller, and returns a check for after the loss of access. A new operation with a stream
 * needs an entry here.
 */
const begin: Record<string, (holder: Holder) => Promise<() => Promise<void>>> = {
  [createImport.id]: async (holder) => {
    // A file whose upload does not end by itself.
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const deviceNo = newSerial('HALF')
    const sent = { kind: 'devices', appId: holder.appId, file: readable }
    const newest = () => database.run(async (sql) => Number((await sql`select max(id) as id from import`)[0]?.id))
    const before = await newest()
    const answer = client.call('createImport', sent, { headers: { ...holder.headers, ...ndjson } })
    await writer.write(Buffer.from(`${JSON.stringify(deviceBody('', { deviceNo }))}\n`))
    await waitUntil(async () => (await newest()) > before)
    return async () => {
      expect(refusedAs).toContain((await answer).code)
      writer.close().catch(() => {})
      expect((await client.operate('getDevice', { deviceNo })).code).toBe(20002)
    }
  },
  [createExport.id]: async (holder) => {
    // One request names the application, the other does not.
    const path = `${createExport.path}?kind=devices&format=ndjson`
    const ends = [await beginToTake(`${path}&appId=${holder.appId}`, holder), await beginToTake(path, holder)]
    return async () => {
      for (const end of ends) await end()
    }
  },
  [getImportResult.id]: (holder) => beginToTake(`${getImportResult.path}?id=${filledBy}&appId=${holder.appId}`, holder),
  [getActResult.id]: (holder) => beginToTake(`${getActResult.path}?id=${actedBy}&appId=${holder.appId}`, holder),
}

async function beginToTake(path: string, { headers }: Holder): Promise<() => Promise<void>> {
  const read = await standStill(path, headers)
  expect(read.isOpen()).toBe(true)
  return async () => {
    // The client has read nothing since, so only the service can have closed the connection.
    await waitUntil(() => !read.isOpen(), 5_000)
    expect(await read.isWhole()).toBe(false)
  }
}

/**
 * Operations that receive a file, or respond with a file that is created meanwhile. A template is a single line, so it
 * is left out.
 */
const lasting = operations.filter(
  ({ id, takes, answers }: Operation) =>
    takes !== undefined ||
    // A stream of events has tests of its own.
    (Array.isArray(answers) && !['getTemplate', 'streamEvents'].includes(id) && !id.startsWith('getOpenApi')),
)

beforeAll(async () => {
  full = await newApplication(client)
  const operator = { appId: full.appId, headers: { authorization: `Bearer ${client.operatorKey}` } }
  const isDone = async (id: number) => (await client.operate('getImport', { id })).data.status === 3
  const filling = await importRows(operator, 6_000)
  await waitUntil(() => isDone(filling), 60_000)
  const faulty = { deviceNo: 'a b', deviceName: '', tag: 3, provinceCode: 5, detailAddress: 7, coordinates: 'x' }
  // A refused row reports each faulty field, so the result is about as long as the export.
  const sent = { kind: 'devices', appId: full.appId, file: `${JSON.stringify(faulty)}\n`.repeat(manyRows) }
  const refused = await client.call('createImport', sent, { headers: { ...operator.headers, ...ndjson } })
  filledBy = refused.data.id
  await waitUntil(() => isDone(filledBy), 60_000)
  const { appId: _, ...site } = siteBody('')
  const file = Array.from({ length: manyRows }, (_, row) => JSON.stringify({ ...site, siteName: `site ${row}` })).join(
    '\n',
  )
  const sites = await client.call(
    'createImport',
    { kind: 'sites', appId: full.appId, file },
    { headers: { ...operator.headers, ...ndjson } },
  )
  await waitUntil(() => isDone(sites.data.id), 120_000)
  // Each row is refused for three members.
  const set = { fastChargeBillRuleId: 1, rushingBillRuleId: 1, placeholderBillRuleId: 1 }
  const act = await client.call(
    'createAct',
    { appId: full.appId, kind: 'sites', act: 'update', filter: { all: true }, set },
    operator,
  )
  actedBy = act.data.id as number
  const isActDone = async () => (await client.operate('getAct', { id: actedBy })).data.status === 3
  await waitUntil(isActDone, 120_000)
}, 300_000)

test('every operation that takes a file or sends one is known here', () => {
  expect(lasting.map(({ id }) => id).sort()).toEqual(Object.keys(begin).sort())
})

test('what is sent comes whole to somebody who keeps their access', async () => {
  const headers = { authorization: `Bearer ${full.token}` }
  const results = [`${getImportResult.path}?id=${filledBy}`, `${getActResult.path}?id=${actedBy}`]
  for (const path of [`${createExport.path}?kind=devices&format=ndjson`, ...results]) {
    const read = await standStill(path, headers)
    // Longer than it takes to end what has lost access.
    await sleep(1_100)
    expect(await read.isWhole()).toBe(true)
  }
})

test('an export of the audit trail ends with the role that reads it, also of an application that its reader keeps', async () => {
  const holder = await ofPerson(full, 'viewer', (id) =>
    client.operate('updateOperator', { id, role: 'developer', appIds: [full.appId] }),
  )
  const path = `${createExport.path}?kind=audit&format=ndjson`
  const ends = [await beginToTake(`${path}&appId=${full.appId}`, holder), await beginToTake(path, holder)]
  await holder.lose()
  await sleep(1_100)
  for (const end of ends) await end()
})

/** Rows of several transactions. */
const someRows = 6_000

/** Takes access away while the application's lock is held, so that the work on the rows stands still meanwhile. */
function loseWhileStanding<Begun>({ appId, lose }: Holder, begin: () => Promise<Begun>): Promise<Begun> {
  return database.run(async (sql) => {
    const { begun, losing } = await sql.begin(async (tx) => {
      await tx`select 1 from application_lock where app_id = ${appId} for update`
      const begun = await begin()
      const losing = lose()
      // Some losses wait for the lock too.
      await Promise.race([losing, sleep(500)])
      return { begun, losing }
    })
    await losing
    return begun
  })
}

/** One loss of each kind of caller, and of the application. */
const lossesInGate = ['the membership of a developer', 'a token that is revoked']

describe.each(atScale(lossesInGate, Object.keys(losses)))('what has begun ends with %s', (loss) => {
  const newHolder = losses[loss] as (app: TestApplication) => Promise<Holder>

  const ended = { status: 4, failure: { kind: 'accessLost', code: expect.any(Number) } }

  test('an import that is worked off', async () => {
    const holder = await newHolder(await newApplication(client))
    const id = await loseWhileStanding(holder, () => importRows(holder, someRows))
    const detail = async () => (await client.operate('getImport', { id })).data
    await waitUntil(async () => (await detail()).status > 2)
    const told = await detail()
    expect(told).toMatchObject({ ...ended, error: expect.stringContaining('lost access') })
    expect(told.created).toBeLessThan(someRows)
    expect((await client.operate('pageDevices', { appId: holder.appId })).data.total).toBe(told.created)
  })

  test('an act that is worked off', async () => {
    const holder = await newHolder(await newApplication(client))
    const filling = await importRows(
      { ...holder, headers: { authorization: `Bearer ${client.operatorKey}` } },
      someRows,
    )
    await waitUntil(async () => (await client.operate('getImport', { id: filling })).data.status === 3)
    const body = { appId: holder.appId, kind: 'devices', act: 'update', filter: { all: true }, set: { tag: 'acted' } }
    const begun = await client.call('createAct', body, { headers: holder.headers })
    expect(begun.code, begun.text).toBe(0)
    const detail = async () => (await client.operate('getAct', { id: begun.data.id })).data
    // Its next portion waits for the lock.
    await loseWhileStanding(holder, detail)
    await waitUntil(async () => (await detail()).status > 2)
    const told = await detail()
    expect(told).toMatchObject({ ...ended, error: expect.stringContaining('lost access') })
    expect(told.done).toBeLessThan(someRows)
    expect((await client.operate('pageDevices', { appId: holder.appId, tag: 'acted' })).data.total).toBe(told.done)
  })

  test('a file that is being taken, and each that is being sent', async () => {
    const holder = await newHolder(full)
    const ends = await Promise.all(lasting.map(({ id }) => begin[id]?.(holder)))
    await holder.lose()
    // Each ends within a second, before its caller does anything more.
    await sleep(1_100)
    await Promise.all(ends.map((end) => end?.()))
  })
})

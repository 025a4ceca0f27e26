import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createExport, createImport, getImport } from '../../src/bulk/contract.ts'
import { createOperatorKey, deleteOperator, deleteOperatorKey, updateOperator } from '../../src/operators/contract.ts'
import { Client, deviceBody, newApplication, newSerial } from '../harness.ts'
import { newPerson, type Person, signIn } from '../people.ts'
import { becomesTrue, type OwnDatabase, sleep, Workplace } from './support.ts'

// Who loses role, membership or account loses what they have begun: exports, uploads and imports.

const place = new Workplace()
const rows = 30_000
let database: OwnDatabase
let client: Client
let appId: string

beforeAll(async () => {
  database = await place.startDatabase()
  client = new Client(await place.startService({ env: { DATABASE_URL: database.url() } }))
  appId = (await newApplication(client)).appId
  await database.run(
    (sql) => sql`
      insert into device (device_no, app_id, device_name, province_code, city_code, district_code, coordinates, bound_at)
      select 'LO-' || i, ${appId}, 'gate', '1', '1', '1', '1,1', now() from generate_series(1, ${rows}::int) as i`,
  )
}, 120_000)
afterAll(() => place.clear(), 60_000)

interface Began {
  headers: Record<string, string>
  lose: () => Promise<{ code: number }>
}

const asPerson = async (role: string, lose: (person: Person) => Promise<{ code: number }>): Promise<Began> => {
  const person = await newPerson(client, role, role === 'developer' ? [appId] : [])
  return { headers: await signIn(client, person), lose: () => lose(person) }
}

const update = (members: object) => (person: Person) => client.operate(updateOperator, { id: person.id, ...members })
const losses: Record<string, () => Promise<Began>> = {
  'membership removed': () => asPerson('developer', update({ appIds: [] })),
  'role lowered': () => asPerson('operator', update({ role: 'developer', appIds: [] })),
  'account disabled': () => asPerson('operator', update({ status: 2 })),
  'account deleted': () => asPerson('operator', ({ id }) => client.operate(deleteOperator, { id })),
  'key deleted': async () => {
    const { data } = await client.operate(createOperatorKey, { name: newSerial('key'), role: 'operator' })
    const headers = { authorization: `Bearer ${data.operatorKey}` }
    return { headers, lose: () => client.operate(deleteOperatorKey, { id: data.id }) }
  },
}

const line = (deviceNo = newSerial('LOST')) =>
  `${JSON.stringify({ ...deviceBody('', { deviceNo }), appId: undefined })}\n`
const ndjson = { 'content-type': 'application/x-ndjson', origin: '' }

describe.each(Object.keys(losses))('%s', (name) => {
  const begin = losses[name] as () => Promise<Began>

  test.each([{}, { named: true }])(
    'an export breaks off (%p)',
    async ({ named }: { named?: boolean }) => {
      const { headers, lose } = await begin()
      const query = `kind=devices&format=ndjson${named ? `&appId=${appId}` : ''}`
      const answer = await fetch(`${client.url}${createExport.path}?${query}`, {
        headers: { ...headers, 'accept-encoding': 'identity' },
      })
      expect(answer.status).toBe(200)
      const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
      let text = Buffer.from((await reader.read()).value ?? []).toString()
      expect((await lose()).code).toBe(0)
      await sleep(1_000)
      let isWhole = false
      try {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) isWhole = true
          if (done) break
          text += Buffer.from(value).toString()
        }
      } catch {
        // It is cut.
      }
      expect(text.split('\n').length).toBeLessThan(rows)
      expect(isWhole).toBe(false)
    },
    30_000,
  )

  test('an upload whose sender pauses ends within about a second, and nothing of it is written', async () => {
    const { headers, lose } = await begin()
    const app = (await newApplication(client)).appId
    const isMember = name === 'membership removed'
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const own = client.url
    const sent = fetch(`${own}${createImport.path}?kind=devices&appId=${isMember ? appId : app}`, {
      method: 'POST',
      headers: { ...headers, ...ndjson, origin: own },
      body: readable,
    })
    const deviceNo = newSerial('PAUSED')
    await writer.write(Buffer.from(line(deviceNo)))
    await sleep(300)
    expect((await lose()).code).toBe(0)
    const lostAt = performance.now()
    const answer = await sent
    expect([401, 403]).toContain(answer.status)
    expect(performance.now() - lostAt).toBeLessThan(4_000)
    await writer.abort().catch(() => {})
    const written = await database.run(async (sql) => await sql`select 1 from device where device_no = ${deviceNo}`)
    expect(written.length).toBe(0)
  }, 30_000)

  test('an import stops, and says why', async () => {
    const { headers, lose } = await begin()
    const app = name === 'membership removed' ? appId : (await newApplication(client)).appId
    const file = Array.from({ length: 20_000 }, () => line()).join('')
    const sent = await fetch(`${client.url}${createImport.path}?kind=devices&appId=${app}`, {
      method: 'POST',
      headers: { ...headers, ...ndjson, origin: client.url },
      body: file,
    })
    const { data } = (await sent.json()) as { data: { id: number } }
    expect(sent.status).toBe(200)
    expect((await lose()).code).toBe(0)
    const told = async () => (await client.operate(getImport, { id: data.id })).data
    expect(await becomesTrue(async () => (await told()).finishTime !== null)).toBe(true)
    const { status, error, created } = await told()
    expect(status).toBe(4)
    expect(error).toMatch(/lost access \(1000[23]/)
    expect(created).toBeLessThan(20_000)
  }, 60_000)
})

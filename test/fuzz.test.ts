import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { openDatabase } from '../src/database/open.ts'
import { createDevice, type DeviceRecord, DeviceRegistration, updateDevice } from '../src/devices/contract.ts'
import { reportDeviceState } from '../src/devices/state/contract.ts'
import { operations } from '../src/reference/operations.ts'
import { SiteRegistration } from '../src/sites/contract.ts'
import type { Operation } from '../src/vocabulary/operation.ts'
import { refusals } from '../src/vocabulary/refusals.ts'
import { terms } from './costs/world.ts'
import { type Answer, Client } from './kit/client.ts'
import { embeddedConnection } from './kit/database.ts'
import { deviceBody, newApplication, newSerial, siteBody } from './kit/records.ts'
import { atScale } from './kit/scale.ts'
import { startService } from './kit/service.ts'

// No request may cause a 5xx, every response has the envelope, and the stored values equal the sent ones. When a run
// fails, fast-check prints its seed.

const cases = atScale(700, 20_000)
const sideBySide = 64

const service = await startService()
const client = new Client(service)
const application = await newApplication(client)
const target = embeddedConnection(service.dataDir)
const database = openDatabase({ target, connections: 2, statementTimeoutMs: 10_000 })
afterAll(async () => {
  await database.end()
  await service.stop()
})

const codes = new Set<number>(Object.values(refusals).map((kind) => kind.code))

function expectEnvelope(answer: Answer<unknown>): void {
  expect(answer.status).toBeLessThan(500)
  expect(answer.headers.get('x-request-id')).toMatch(/^[\w.:-]{1,128}$/)
  if (answer.headers.get('content-type') === 'text/event-stream') {
    expect(answer.text).toMatch(/^retry: \d+\n\n/)
    return
  }
  const envelope = JSON.parse(answer.text)
  if (answer.status === 200) {
    expect(Object.keys(envelope).slice(0, 3)).toEqual(['code', 'msg', 'data'])
    expect([envelope.code, envelope.msg]).toEqual([0, 'success'])
  } else {
    expect(codes.has(envelope.code)).toBe(true)
    expect(envelope.msg).toBeString()
  }
}

/** Text of every kind: plain, wide, combining, astral, with control characters, with lone surrogates. */
const anyText = fc.oneof(
  fc.string({ maxLength: 80 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
  fc.constantFrom('', ' ', '\0', '\n', '\u2028', '\ud800', '__proto__', 'null', '360000', '115.9,28.7', '28.7,115.9'),
  fc.constantFrom(...['24:00:00', '00:00:00', '7:00:00', '\u202e', '\x1e', '\x1f', '\r\n']),
  fc.constantFrom('a'.repeat(5000), '𝄞'.repeat(64)),
)

/** Any JSON value. Numbers are written as text, so that 2^53+1, 1e400 and −0 are sent unchanged. */
const anyNumber = fc.constantFrom(
  ...['0', '-0', '1', '2', '3', '-1', '1.5', '1e2', '1e400', '-1e400', '1e-7', '2147483648'],
  ...['9007199254740991', '9007199254740992', '9007199254740993', '123456789012345678901234567890'],
)
const anyValue: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: anyText.map((text) => JSON.stringify(text)) },
  { weight: 3, arbitrary: anyNumber },
  { weight: 1, arbitrary: fc.constantFrom('null', 'true', 'false', '[]', '{}', '[null]', '{"a":1}', '[[[]]]') },
  { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
)

/** A valid body with some members replaced, removed or added, as JSON text. */
function bodyFor(base: () => object, members: string[]): fc.Arbitrary<string> {
  const changes = fc.array(
    fc.tuple(
      fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...members) }, { weight: 1, arbitrary: anyText }),
      fc.option(anyValue),
    ),
    { maxLength: 3 },
  )
  return changes.map((list) => {
    const written = new Map(Object.entries(base()).map(([member, value]) => [member, JSON.stringify(value)]))
    for (const [member, value] of list) {
      if (value === null) written.delete(member)
      else written.set(member, value)
    }
    return `{${[...written].map(([member, value]) => `${JSON.stringify(member)}:${value}`).join(',')}}`
  })
}

/**
 * Calls `check` with generated bodies in groups that are sent at the same time, so that races between odd requests are
 * tested too.
 */
async function fuzz(
  arbitrary: fc.Arbitrary<string>,
  runs: number,
  check: (bodies: string[]) => Promise<void>,
  together = sideBySide,
) {
  const batches = fc.array(arbitrary, { minLength: together, maxLength: together })
  await fc.assert(fc.asyncProperty(batches, check), { numRuns: Math.ceil(runs / together), endOnFailure: true })
}

const deviceMembers = Object.keys(DeviceRegistration.properties)
const siteMembers = Object.keys(SiteRegistration.properties)

test('createDevice stores and answers exactly what was sent, or refuses it', async () => {
  const base = () => deviceBody(application.appId, { deviceNo: newSerial('FZ') })
  await fuzz(bodyFor(base, deviceMembers), cases * 0.35, async (bodies) => {
    const answers = await Promise.all(
      bodies.map((body) => client.call('createDevice', body, { token: application.token })),
    )
    answers.forEach(expectEnvelope)
    const created = answers.flatMap((answer, index) =>
      answer.status === 200 ? [{ record: answer.data, sent: JSON.parse(bodies[index] as string) }] : [],
    )
    const serials = JSON.stringify(created.map(({ record }) => record.deviceNo))
    const rows = await database`
      select * from device where device_no in (select json_array_elements_text(${serials}::text::json))`
    const stored = new Map(rows.map((row) => [row.device_no, row]))
    for (const { record, sent } of created) {
      const given = (member: string) => (sent[member] === '' ? null : (sent[member] ?? null))
      const { deviceNo, deviceName, coordinates, districtCode } = sent
      const [tag, detailAddress] = [given('tag'), given('detailAddress')]
      const codes = { provinceCode: given('provinceCode') ?? '360000', cityCode: given('cityCode') ?? '360100' }
      const deviceBattery = { ...codes, detailAddress, coordinates }
      expect<unknown>(record).toMatchObject({ deviceNo, deviceName, tag, deviceBattery })
      const place = { coordinates, district_code: districtCode, detail_address: detailAddress }
      const row = { app_id: application.appId, device_name: deviceName, tag, ...place }
      expect(stored.get(deviceNo)).toMatchObject(row)
    }
  })
})

test('saveSite stores and answers exactly what was sent, or refuses it', async () => {
  await fuzz(
    bodyFor(() => siteBody(application.appId), siteMembers),
    cases * 0.4,
    async (bodies) => {
      const answers = await Promise.all(
        bodies.map((body) => client.call('saveSite', body, { token: application.token })),
      )
      answers.forEach(expectEnvelope)
      const created = answers.flatMap((answer, index) =>
        answer.status === 200 ? [{ record: answer.data, sent: JSON.parse(bodies[index] as string) }] : [],
      )
      const ids = JSON.stringify(created.map(({ record }) => record.id))
      const rows = await database`
        select id, site_name, detail_address, coordinates, longitude from site
        where app_id = ${application.appId}
          and id in (select json_array_elements_text(${ids}::text::json)::bigint)`
      const stored = new Map(rows.map((row) => [row.id, row]))
      const events = await database`
        select subject, data from event
        where app_id = ${application.appId} and type = 'site.created'
          and subject in (select json_array_elements_text(${ids}::text::json))`
      const logged = new Map(events.map((event) => [Number(event.subject), event.data]))
      for (const { record, sent } of created) {
        for (const member of siteMembers) {
          const value = sent[member] === undefined || sent[member] === '' ? null : sent[member]
          expect((record as Record<string, unknown>)[member]).toEqual(value)
        }
        expect(JSON.parse(logged.get(record.id) as string)).toEqual(record)
        const { siteName: site_name, detailAddress: detail_address, coordinates, longitude } = record
        expect(stored.get(record.id)).toMatchObject({ site_name, detail_address, coordinates, longitude })
      }
    },
  )
})

/** Creates one device for each of the bodies that are sent at the same time. */
async function newDevices(): Promise<string[]> {
  const devices = Array.from({ length: sideBySide }, () => deviceBody(application.appId))
  const created = await client.call('createDevices', { devices }, { token: application.token })
  expect(created.data.results.every(({ code }) => code === 0)).toBe(true)
  return devices.map(({ deviceNo }) => deviceNo)
}

/**
 * Sends generated changes of devices, one for each device, at the same time. A refused change must change nothing, and
 * the response must equal what is read afterwards. The members that `show` picks must be as they were sent, or
 * unchanged where they were not sent.
 */
async function fuzzChanges(
  operation: typeof updateDevice | typeof reportDeviceState,
  base: () => object,
  show: (record: DeviceRecord) => Record<string, unknown>,
): Promise<void> {
  const serials = await newDevices()
  const members = Object.keys(operation.body?.properties ?? {}).filter((member) => member !== 'deviceNo')
  const read = async (deviceNo: string): Promise<DeviceRecord> => {
    const { code, data } = await client.call('getDevice', { deviceNo }, { token: application.token })
    // 10007: the application's share of concurrent reads is used up.
    return code === 10007 ? Bun.sleep(5).then(() => read(deviceNo)) : data
  }
  const readAll = () => Promise.all(serials.map(read))
  await fuzz(bodyFor(base, members), cases * 0.1, async (bodies) => {
    const sent = bodies.map((body, index) =>
      `{"deviceNo":${JSON.stringify(serials[index])},${body.slice(1)}`.replace(/,\}$/, '}'),
    )
    const before = await readAll()
    const answers = await Promise.all(sent.map((body) => client.call(operation, body, { token: application.token })))
    answers.forEach(expectEnvelope)
    const after = await readAll()
    for (const [index, { status, data }] of answers.entries()) {
      if (status !== 200) {
        expect<unknown>(after[index]).toEqual(before[index])
        continue
      }
      expect<unknown>(after[index]).toEqual(data)
      const given = JSON.parse(sent[index] as string)
      // A report makes its device online, unless the report itself sets another state.
      const alive = operation === reportDeviceState ? { onlineStatus: 1 } : {}
      const kept = show({ ...(before[index] as DeviceRecord), ...alive })
      // null and "" clear a member; a member that always has a value ignores them.
      const expected = Object.entries(kept).map(([member, value]) => {
        if (!Object.hasOwn(given, member)) return value
        return given[member] === '' || given[member] === null ? (alwaysGiven.has(member) ? value : null) : given[member]
      })
      expect(JSON.stringify(Object.values(show(data)))).toBe(JSON.stringify(expected))
    }
  })
}

const alwaysGiven = new Set(['status', 'onlineStatus', 'runStatus'])

test('updateDevice shows exactly what was sent and keeps the rest, or refuses it', async () => {
  await fuzzChanges(
    updateDevice,
    () => ({ tag: 'lane=2' }),
    ({ deviceName, tag, deviceBattery: { districtCode, detailAddress, coordinates } }) => ({
      deviceName,
      tag,
      districtCode,
      detailAddress,
      coordinates,
    }),
  )
})

test('reportDeviceState shows exactly what was sent and keeps the rest, or refuses it', async () => {
  await fuzzChanges(
    reportDeviceState,
    () => ({ runStatus: 1, statusRemark: 'E1', batteryEnergy: '5%' }),
    ({ status, onlineStatus, runStatus, statusRemark, version, DeviceBatteryOutput: battery }) => ({
      status,
      onlineStatus,
      runStatus,
      statusRemark,
      version,
      ...battery,
    }),
  )
})

/** All other operations with input. An operator calls them, for an application and records that no other test uses. */
const others = operations.filter(
  ({ id, body, query }) =>
    (body !== undefined || query !== undefined) && !['createDevice', 'saveSite', 'importDeviceInventory'].includes(id),
)

test('every other operation answers anything with its envelope', async () => {
  const victim = await newApplication(client)
  const site = await client.operate('saveSite', siteBody(victim.appId))
  const ruleId = (await client.operate('saveBillingRule', { appId: victim.appId, ...terms })).data.id
  const memberNames = (operation: Operation) => Object.keys((operation.body ?? operation.query)?.properties ?? {})
  const runs = (cases * 0.2) / others.length
  for (const operation of others) {
    const deviceNo = newSerial('FZ')
    await client.operate('createDevice', deviceBody(victim.appId, { deviceNo }))
    const id = operation.path.includes('/billingRule/') ? ruleId : site.data.id
    const known: Record<string, unknown> = {
      appId: victim.appId,
      deviceNo,
      id,
      reason: 'fuzz',
      targetAppId: victim.appId,
    }
    const members = memberNames(operation)
    const base = () => Object.fromEntries(Object.entries(known).filter(([member]) => members.includes(member)))
    const isWrite = operation.method === 'POST' && operation.takes === undefined
    const send = (body: string) => {
      if (isWrite) return client.operate(operation, body)
      const query = Object.entries<unknown>(JSON.parse(body)).map(([member, value]) => [
        member,
        typeof value === 'string' ? value : JSON.stringify(value),
      ])
      return client.operate(operation, Object.fromEntries(query))
    }
    const check = async (bodies: string[]) => (await Promise.all(bodies.map(send))).forEach(expectEnvelope)
    await fuzz(bodyFor(base, [...members, 'appId']), runs, check, atScale(16, sideBySide))
  }
})

test('bytes that are no JSON are refused as such', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .constantFrom('', '{', '[]', 'null', '"', '{"a":1,"a":2}', '{"a":1}}', '\ufeff{}', '{"a":01}', '{a:1}')
      .map(toBytes),
    fc.integer({ min: 1, max: 30_000 }).map((depth) => toBytes('['.repeat(depth))),
    fc.integer({ min: 1, max: 10_000 }).map((depth) => toBytes('{"a":'.repeat(depth))),
  )
  await fc.assert(
    fc.asyncProperty(bytes, async (body) => {
      const answer = await client.send(createDevice.path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${application.token}` },
        body,
      })
      expectEnvelope(answer)
      expect([answer.status, answer.code]).toEqual([400, 10001])
    }),
    { numRuns: atScale(150, 1_000), endOnFailure: true },
  )
})

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>
}

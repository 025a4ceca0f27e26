import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ISql } from 'postgres'
import { freezeApplication, getApplication, updateApplication } from '../../src/applications/contract.ts'
import { saveBillingRule } from '../../src/billing-rules/contract.ts'
import { createDevice, getDevice, pageDevices, updateDevice } from '../../src/devices/contract.ts'
import { transferDevice, transferDevices, unbindDevice } from '../../src/devices/ownership/contract.ts'
import { reportDeviceState } from '../../src/devices/state/contract.ts'
import { pageEvents } from '../../src/events/contract.ts'
import { createOperatorKey, deleteOperatorKey, updateOperator } from '../../src/people/operators/contract.ts'
import { deleteSession, getSession } from '../../src/people/sessions/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import {
  type Answer,
  Client,
  deviceBody,
  newApplication,
  newSerial,
  shownSecret,
  siteBody,
  type TestApplication,
} from '../harness.ts'
import { newPerson, signIn } from '../people.ts'
import { becomesTrue, type OwnDatabase, Workplace } from './support.ts'

// A read or a change that waited looks at its caller again: what it may not any more is neither answered nor written.

const place = new Workplace()
let database: OwnDatabase
let client: Client
let app: TestApplication
let target: TestApplication
let deviceNo = ''
afterAll(() => place.clear(), 60_000)

beforeAll(async () => {
  database = await place.findDatabase()
  client = new Client(await place.startService({ env: { DATABASE_URL: database.url() } }))
  ;[app, target] = [await newApplication(client), await newApplication(client)]
  deviceNo = newSerial()
  await client.operate(createDevice, deviceBody(app.appId, { deviceNo }))
}, 120_000)

type Headers = Record<string, string>

/** Runs a request while a transaction holds a lock that it waits for, and changes something before the lock is released. */
async function whileWaiting<Answered>(
  lock: (tx: ISql) => Promise<unknown>,
  ask: () => Promise<Answered>,
  meanwhile: () => Promise<unknown>,
): Promise<Answered> {
  const { asked } = await database.run((sql) =>
    sql.begin(async (tx) => {
      await lock(tx)
      const asked = ask()
      const [self] = await tx`select pg_backend_pid() as pid`
      const waits = () =>
        database.run(
          async (other) =>
            (await other`select 1 from pg_stat_activity where ${self?.pid} = any(pg_blocking_pids(pid))`).length > 0,
        )
      if (!(await becomesTrue(waits))) throw new Error('the request never waited')
      await meanwhile()
      return { asked }
    }),
  )
  return asked
}

const lockOf = (tx: ISql) => tx`select 1 from application_lock where app_id = ${app.appId} for update`

interface Holder {
  headers: Headers
  lose(): Promise<unknown>
  code: number
}

async function person(role: string, code: number, lose: (id: number, headers: Headers) => Promise<unknown>) {
  const account = await newPerson(client, role, role === 'developer' ? [app.appId] : [])
  const headers = await signIn(client, account)
  return { headers, code, lose: () => lose(account.id, headers) }
}

/** How an operator loses access, and the refusal of what waited. */
const losses: [string, () => Promise<Holder>][] = [
  [
    'the session ends',
    () =>
      person('operator', 10002, async (_, headers) => {
        const { id } = (await client.call(getSession, {}, { headers })).data
        await client.operate(deleteSession, { id: id ?? 0 })
      }),
  ],
  [
    'the account is disabled',
    () => person('operator', 10002, (id) => client.operate(updateOperator, { id, status: 2 })),
  ],
  [
    'the role no longer allows it',
    () => person('operator', 10003, (id) => client.operate(updateOperator, { id, role: 'viewer' })),
  ],
  [
    'the key is revoked',
    async () => {
      const headers = await signIn(client, await newPerson(client, 'admin'))
      const made = await client.call(createOperatorKey, { name: newSerial('key'), role: 'operator' }, { headers })
      const authorization = `Bearer ${shownSecret(made.data.operatorKey)}`
      const lose = () => client.operate(deleteOperatorKey, { id: made.data.id })
      return { headers: { authorization }, code: 10002, lose }
    },
  ],
]

const membership: [string, () => Promise<Holder>] = [
  'the membership ends',
  () => person('developer', 10003, (id) => client.operate(updateOperator, { id, appIds: [target.appId] })),
]

/** Changes that wait for the application's lock, by whichever way they are written. */
const changes: [string, (headers: Headers) => Promise<Answer<unknown>>][] = [
  ['a create', (headers) => client.call(createDevice, deviceBody(app.appId), { headers })],
  ['an update', (headers) => client.call(updateDevice, { appId: app.appId, deviceNo, tag: 'late' }, { headers })],
  ['a site', (headers) => client.call(saveSite, siteBody(app.appId), { headers })],
  [
    'a state',
    (headers) =>
      client.call(reportDeviceState, { appId: app.appId, deviceNo, onlineStatus: 1, runStatus: 2 }, { headers }),
  ],
  ['an unbinding', (headers) => client.call(unbindDevice, { appId: app.appId, deviceNo }, { headers })],
  [
    'a billing rule',
    (headers) =>
      client.call(
        saveBillingRule,
        {
          appId: app.appId,
          ruleName: newSerial('late'),
          ruleType: 3,
          freeMinutes: 15,
          unitMinutes: 30,
          unitPrice: '1.50',
        },
        { headers },
      ),
  ],
]

const operators: typeof changes = [
  [
    'an application’s update',
    (headers) => client.call(updateApplication, { appId: app.appId, appName: 'late' }, { headers }),
  ],
  ['a freeze', (headers) => client.call(freezeApplication, { appId: app.appId, reason: 'late' }, { headers })],
  [
    'a transfer',
    (headers) =>
      client.call(transferDevice, { deviceNo, targetAppId: target.appId, reason: 'late' } as never, { headers }),
  ],
]

describe('a change that waits for the application while', () => {
  const cases = [
    ...losses.flatMap(([loss, make], at) =>
      [...changes, ...operators].map(([name, ask], n) => [loss, name, make, ask, at, n] as const),
    ),
    ...changes.map(([name, ask], n) => [membership[0], name, membership[1], ask, 0, n] as const),
  ]
    // Every loss with one change of each kind would be slow: each change meets each loss of a session or key once.
    .filter(
      ([loss, , , , at, n]) => loss === membership[0] || at === n % losses.length || at === (n + 1) % losses.length,
    )

  test.each(cases)('%s: %s is refused, and nothing is written', async (_, __, make, ask) => {
    const holder = await make()
    const before = (await client.operate(pageEvents, { appId: app.appId, pageSize: 1 })).data.list[0]?.id
    const answer = await whileWaiting(lockOf, () => ask(holder.headers), holder.lose)
    expect(answer.code).toBe(holder.code)
    expect((await client.operate(pageEvents, { appId: app.appId, pageSize: 1 })).data.list[0]?.id).toBe(before)
  })

  test('somebody else’s session ends is written, though it shares a batch', async () => {
    const [gone, stays] = [await (losses[0] as (typeof losses)[0])[1](), await (losses[0] as (typeof losses)[0])[1]()]
    const [first, second, own] = [newSerial(), newSerial(), newSerial()]
    const answers = await whileWaiting(
      lockOf,
      async () => {
        const create = (serial: string, headers: Headers) =>
          client.call(createDevice, deviceBody(app.appId, { deviceNo: serial }), { headers })
        // The first waits alone; the others share the next batch.
        const waiting = create(own, { authorization: `Bearer ${client.operatorKey}` })
        await Bun.sleep(100)
        return Promise.all([waiting, create(first, gone.headers), create(second, stays.headers)])
      },
      gone.lose,
    )
    expect(answers.map(({ code }) => code)).toEqual([0, 10002, 0])
  })
})

test('a transfer of many devices whose session ends while it waits moves none', async () => {
  const holder = await (losses[0] as (typeof losses)[0])[1]()
  const deviceNos = [deviceNo]
  const answer = await whileWaiting(
    lockOf,
    () =>
      client.call(transferDevices, { deviceNos, targetAppId: target.appId, reason: 'late' } as never, {
        headers: holder.headers,
      }),
    holder.lose,
  )
  expect(answer.code === 10002 || JSON.stringify(answer.data).includes('10002')).toBe(true)
  expect((await client.operate(getDevice, { appId: app.appId, deviceNo })).code).toBe(0)
  expect((await client.operate(getApplication, { appId: app.appId })).data.status).toBe(1)
})

test.each(losses)('a read that waits is refused when %s', async (_, make) => {
  const holder = await make()
  const answers = await whileWaiting(
    (tx) => tx`lock table device in access exclusive mode`,
    () =>
      Promise.all(
        Array.from({ length: 8 }, () => client.call(pageDevices, { appId: app.appId }, { headers: holder.headers })),
      ),
    holder.lose,
  )
  // A viewer may read what an operator may.
  const code = holder.code === 10003 ? 0 : holder.code
  expect(new Set(answers.map((answer) => answer.code))).toEqual(new Set([code]))
})

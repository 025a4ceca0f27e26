import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { forecourt } from '../cli/support.ts'
import { Authenticator } from '../kit/authenticator.ts'
import { Client } from '../kit/client.ts'
import { fakeClock, libfaketime } from '../kit/clock.ts'
import { databaseIn, type OwnDatabase } from '../kit/database.ts'
import { codeOf, enter, newGenerator, newPerson, type Person, signIn } from '../kit/people.ts'
import type { Lies } from '../kit/provider.ts'
import { isLong, longTest } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { waitUntil } from '../kit/waits.ts'
import { claimsOf, namedUrl, newSubject, SignOnBed } from './sign-on-bed.ts'

// Sign-ins that take two requests, with kills, wrong clocks and a restore between them; for the long run.

const bed = new SignOnBed()
const { place, provider, begin, callBack } = bed
let database: OwnDatabase
let service: Service
let client: Client
afterAll(() => bed.clear(), 60_000)

beforeAll(async () => {
  if (!isLong) return
  await bed.start({ FORECOURT_PUBLIC_URL: namedUrl, FORECOURT_WORKERS: '3' })
  ;({ database, service, client } = bed)
}, 120_000)

let sources = 0
const from = () => {
  const source = ++sources
  return { 'x-forwarded-for': `198.${18 + (source >> 16)}.${(source >> 8) & 255}.${source & 255}`, connection: 'close' }
}

/** A sign-on that has begun: what the browser brings back to the callback. */
async function begun(service = client, subject = newSubject(), lies: Lies = {}) {
  const { cookie, url } = await begin({ service })
  return { cookie, query: provider.issue(url, claimsOf('ops', subject), lies), subject }
}

const comesBack = ({ cookie, query }: Awaited<ReturnType<typeof begun>>, on = client) => callBack(query, cookie, on)

async function newPasskey(person: Person, on = client) {
  const headers = await signIn(on, person)
  const { options, ticket } = (await on.call('startPasskey', {}, { headers })).data
  const authenticator = new Authenticator(namedUrl)
  const input = { ticket, credential: authenticator.create(options), name: 'x' }
  const saved = await on.call('savePasskey', input, { headers })
  if (saved.code !== 0) throw new Error(saved.text)
  return authenticator
}

/** Kills all workers at once, and waits until others serve in their place. */
async function killWorkers(): Promise<void> {
  const gone = place.workersOf(service)
  expect(gone).toHaveLength(3)
  for (const pid of gone) process.kill(pid, 'SIGKILL')
  const isBack = async () => {
    const now = place.workersOf(service)
    return now.length === 3 && !now.some((pid) => gone.includes(pid)) && (await isReady())
  }
  await waitUntil(isBack)
}

const isReady = () =>
  fetch(`${client.url}/readyz`, { headers: { connection: 'close' } }).then(
    ({ status }) => status === 200,
    () => false,
  )

const sessionsOf = async (name: string) => {
  const rows = await database.sql`
      select s.id from operator_session s join operator o on o.id = s.operator_id where o.name = ${name}`
  return rows.length
}

describe.skipIf(!isLong)('a way in', () => {
  test('goes on after every process was killed between its two requests', async () => {
    const person = await newPerson(client, 'viewer')
    const authenticator = await newPasskey(person)
    for (let round = 0; round < 3; round++) {
      const [flow, { options, ticket }] = [await begun(), (await client.call('startPasskeySession', {})).data]
      await killWorkers()
      expect((await comesBack(flow)).session).toBeDefined()
      const credential = authenticator.get(options)
      expect((await client.call('createSession', { ticket, credential }, { headers: from() })).code).toBe(0)
    }
  })

  test('that is cut off between code and session leaves none, and spoils nothing', async () => {
    for (let round = 0; round < 3; round++) {
      const flow = await begun(client, newSubject(), { tokenHangs: true })
      const asked = provider.tokenRequests.length
      const cut = comesBack(flow).then(
        () => 'answered',
        () => 'cut off',
      )
      await waitUntil(() => provider.tokenRequests.length > asked)
      await killWorkers()
      expect(await cut).toBe('cut off')
      expect(await sessionsOf(flow.subject)).toBe(0)
      // The browser may send the callback again, but its code was already sent to the provider, so the flow is used up.
      expect(await comesBack(flow)).toMatchObject({ refusal: 10061, session: undefined })
      expect((await comesBack(await begun(client, flow.subject))).session).toBeDefined()
      expect(await sessionsOf(flow.subject)).toBe(1)
    }
  })

  test.skipIf(!existsSync(libfaketime))('goes by the clock of the database where a process has another', async () => {
    for (const by of ['+40s', '-40s']) {
      const { service: odd, client: there } = await place.start({
        env: { ...bed.env, FORECOURT_OIDC_ROLES: 'operator=ops', FORECOURT_PUBLIC_URL: namedUrl, ...fakeClock(by) },
      })
      const person = await newPerson(client, 'viewer')
      const { secret } = await newGenerator(client, await signIn(client, person))
      expect((await enter(there, person, codeOf(secret), from())).code).toBe(0)
      // The step is used up for every process, even with a wrong clock.
      expect((await enter(client, person, codeOf(secret), from())).code).toBe(10033)
      // A sign-on that one of the two begins is finished by the other.
      for (const [first, second] of [
        [there, client],
        [client, there],
      ] as const) {
        expect((await comesBack(await begun(first), second)).session).toBeDefined()
      }
      await odd.stop()
    }
  })
})

longTest('a restored backup lets people in by their second factor', async () => {
  const dataDir = place.newFolder()
  const { service: first, client: there } = await place.start({ dataDir, env: { FORECOURT_PUBLIC_URL: namedUrl } })
  const person = await newPerson(there, 'admin')
  const authenticator = await newPasskey(person, there)
  const holder = await newPerson(there, 'viewer')
  const { secret, recoveryCodes } = await newGenerator(there, await signIn(there, holder))
  await databaseIn(dataDir).sql`insert into operator_identity (issuer, subject, operator_id, linked_at)
      values ('https://login.example', 'somebody', ${holder.id}, now())`
  await first.stop()
  const file = join(place.home, 'backup')
  const other = place.newFolder()
  expect((await forecourt(['backup', file], { FORECOURT_DATA_DIR: dataDir })).code).toBe(0)
  expect((await forecourt(['restore', file], { FORECOURT_DATA_DIR: other })).code).toBe(0)
  const again = new Client(await place.startService({ dataDir: other, env: { FORECOURT_PUBLIC_URL: namedUrl } }))
  for (const code of [codeOf(secret, 1), recoveryCodes[0]]) expect((await enter(again, holder, code)).code).toBe(0)
  expect((await enter(again, holder)).code).toBe(10032)
  expect((await again.operate('getOperator', { id: holder.id })).data.isLinked).toBe(true)
  const { options, ticket } = (await again.call('startPasskeySession', {})).data
  const entered = await again.call('createSession', { ticket, credential: authenticator.get(options) })
  expect(entered.data).toMatchObject({ name: person.name, method: 'passkey' })
})

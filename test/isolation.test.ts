import { describe, expect, test } from 'bun:test'
import type { Methods } from '../sdk/src/api.ts'
import { operations } from '../src/reference/operations.ts'
import type { Operation } from '../src/vocabulary/operation.ts'
import { everyRole, type Role } from '../src/vocabulary/roles.ts'
import { client } from './conformance/support.ts'
import { newWorld } from './conformance/world.ts'
import { inputsOf } from './costs/operations.ts'
import { newPerson, signIn } from './kit/people.ts'
import { siteBody } from './kit/records.ts'

// Who may call what, generated from the list of operations, with the inputs of test/costs/operations.ts.

const world = await newWorld()
const { owner, stranger, rule, device, site } = world
const inputs = await inputsOf(world)
const inputOf = ({ id }: Operation) => inputs[id] ?? {}
const nowhereOf = (operation: Operation) => ({ ...inputOf(operation), appId: 'no-such-application' })

/** Anybody who is signed in may call these for itself (contract §12). */
const ofEverybody = new Set<keyof Methods>([
  ...(['getSession', 'confirmSession', 'getSettings', 'pageSessions', 'deleteSession', 'changePassword'] as const),
  ...(['getSecondFactors', 'startTotp', 'saveTotp', 'deleteTotp', 'renewRecoveryCodes'] as const),
  ...(['startPasskey', 'savePasskey', 'deletePasskey', 'unlinkSignOn', 'completeSignOn'] as const),
  ...(['pageOwnOperatorKeys', 'saveView', 'pageViews', 'deleteView', 'pageApplications', 'search'] as const),
])
const ofAdmins = new Set<keyof Methods>([
  ...(['createOperator', 'updateOperator', 'deleteOperator', 'resetOperator', 'getOperator', 'pageOperators'] as const),
  ...(['createOperatorKey', 'deleteOperatorKey', 'handOverOperatorKey', 'pageOperatorKeys'] as const),
  'resetSecondFactors',
])

/** The roles that may call an operation: viewers read, developers act for their applications (contract §12.1). */
function admittedTo({ id, callers, method }: Operation): Role[] {
  const name = id as keyof Methods
  if (ofEverybody.has(name)) return [...everyRole]
  if (ofAdmins.has(name)) return ['admin']
  const mayRead = method === 'GET' && name !== 'getServiceDetail'
  return [
    'admin',
    'operator',
    ...(mayRead ? (['viewer'] as const) : []),
    ...(callers.includes('application') ? (['developer'] as const) : []),
  ]
}

/** The records that others must not change, and the events about them. */
async function readRecords() {
  const { token } = owner
  const bound = await client.call('getDevice', { deviceNo: device }, { token })
  const named = await client.call('getBillingRule', { id: rule }, { token })
  const standing = await client.call('getSite', { id: site }, { token })
  const told = await client.call('pageEvents', { pageSize: 100 }, { token })
  expect([bound.code, named.code, standing.code, told.code]).toEqual([0, 0, 0, 0])
  return [bound.data, named.data, standing.data, told.data.list.map(({ type, data }) => ({ type, data }))]
}
const before = await readRecords()

/** One session for each role; the developer is a member of the owner's application. */
const sessions = Object.fromEntries(
  await Promise.all(
    everyRole.map(async (role) => {
      const person = await newPerson(client, role, role === 'developer' ? [owner.appId] : [])
      return [role, await signIn(client, person)] as const
    }),
  ),
)
const foreignDeveloper = await signIn(client, await newPerson(client, 'developer', [stranger.appId]))

/**
 * Sends a body that every operation refuses, so that nothing changes. Code 10003 means that the caller may not call the
 * operation, 10001 that it may.
 */
function probe({ method, path }: Operation, headers: Record<string, string>) {
  if (method === 'GET') return client.send<unknown>(path, { headers })
  return client.send<unknown>(path, { method, headers: { ...headers, 'content-type': 'application/json' }, body: '[]' })
}

/** Whether applications may call the operation although it concerns no application in particular. */
function isShared({ callers, body, query }: Operation): boolean {
  return callers.includes('application') && !Object.hasOwn((body ?? query)?.properties ?? {}, 'appId')
}

for (const operation of operations) {
  if (operation.callers.length === 0) {
    test(`${operation.id} is answered without a token, and whatever token it is sent`, async () => {
      for (const token of [undefined, 'x', owner.token]) {
        expect((await client.call(operation, {}, { token })).code).not.toBe(10002)
      }
    })
    continue
  }

  const input = inputOf(operation)
  describe(operation.id, () => {
    test('is refused without a token, before anything that was sent is looked at', async () => {
      for (const sent of [input, {}]) {
        const answer = await client.call(operation, sent)
        expect([answer.status, answer.code, answer.data]).toEqual([401, 10002, null])
        expect(answer.headers.get('www-authenticate')).toStartWith('Bearer')
      }
    })

    test('is refused with a token that nobody was given', async () => {
      for (const token of ['x', 'A'.repeat(43), `${owner.token}x`, owner.appSecret, '']) {
        const answer = await client.call(operation, input, { token })
        expect([answer.status, answer.code]).toEqual([401, 10002])
      }
    })

    for (const role of everyRole) {
      const isAdmitted = admittedTo(operation).includes(role)
      test(`is ${isAdmitted ? 'open' : 'refused'} to the role ${role}`, async () => {
        const answer = await probe(operation, sessions[role] ?? {})
        if (!isAdmitted) expect([answer.status, answer.code, answer.data]).toEqual([403, 10003, null])
        else expect([401, 403]).not.toContain(answer.status)
      })
    }

    if (operation.callers.includes('application') && !isShared(operation)) {
      test('is refused to a developer of another application', async () => {
        const answer = await client.call(operation, input, { headers: foreignDeveloper })
        expect([answer.status, answer.code, answer.data]).toEqual([403, 10003, null])
        const notThere = await client.call(operation, nowhereOf(operation), { headers: foreignDeveloper })
        expect([notThere.status, notThere.text]).toEqual([answer.status, answer.text])
      })
    }

    if (isShared(operation)) {
      test('belongs to no application: it answers every one, and operators, the same', async () => {
        const callers = [owner.token, stranger.token, client.operatorKey]
        const answers = await Promise.all(callers.map((token) => client.call(operation, input, { token })))
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
        expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      })
      return
    }

    test('is refused to another application', async () => {
      const answer = await client.call(operation, input, { token: stranger.token })
      expect([answer.status, answer.code, answer.data]).toEqual([403, 10003, null])
      expect(answer.text).not.toContain(owner.appId)
    })

    if (operation.callers.includes('application')) {
      test('answers an application that does not exist as it answers one that is not the caller’s', async () => {
        const there = await client.call(operation, input, { token: stranger.token })
        const notThere = await client.call(operation, nowhereOf(operation), { token: stranger.token })
        expect([notThere.status, notThere.text]).toEqual([there.status, there.text])
      })
    } else {
      test('is refused to an application even for itself', async () => {
        const answer = await client.call(operation, input, { token: owner.token })
        expect([answer.status, answer.code]).toEqual([403, 10003])
      })
    }
  })
}

describe('an id of another application', () => {
  test('is not a billing rule that saveSite takes', async () => {
    const body = siteBody(stranger.appId, { placeholderBillRuleId: rule })
    const answer = await client.call('saveSite', body, { token: stranger.token })
    expect([answer.status, answer.code]).toEqual([409, 40002])
  })

  test('does not let one application revoke another’s token', async () => {
    const { appId, appSecret } = stranger
    const input = { token: owner.token, client_id: appId, client_secret: appSecret }
    expect((await client.call('revokeToken', input)).status).toBe(200)
    await Bun.sleep(1100)
    const still = await client.call('getBillingRule', { appId: owner.appId, id: rule }, { token: owner.token })
    expect(still.code).toBe(0)
  })
})

/** Bodies that name the owner's application in odd spellings, together with the stranger's own id or instead of it. */
const spelledBodies = (input: object): string[] => {
  const own = { ...input, appId: stranger.appId }
  const named = `"appId":${JSON.stringify(owner.appId)}`
  const rest = JSON.stringify(own).slice(1)
  return [
    ...[owner.appId.toUpperCase(), ` ${owner.appId}`, `${owner.appId} `, `${stranger.appId},${owner.appId}`].map(
      (appId) => JSON.stringify({ ...own, appId }),
    ),
    ...[[owner.appId], [stranger.appId, owner.appId], { appId: owner.appId }].map((appId) =>
      JSON.stringify({ ...own, appId }),
    ),
    `{${named},${rest}`,
    `${JSON.stringify(own).slice(0, -1)},${named}}`,
    `{"\\u0061ppId":${JSON.stringify(owner.appId)},${rest}`,
  ]
}
const writesOfOne = operations.filter(
  (operation) =>
    operation.method === 'POST' &&
    operation.callers.includes('application') &&
    Object.hasOwn(inputOf(operation), 'appId') &&
    operation.body,
)

test.each(writesOfOne.map((operation) => [operation.id, operation] as const))(
  '%s is refused to another application, however the appId in its body is spelled',
  async (_, operation) => {
    for (const body of spelledBodies(inputOf(operation))) {
      const answer = await client.call(operation, body, { token: stranger.token })
      expect([body, answer.status >= 400 && answer.status < 500]).toEqual([body, true])
      expect(answer.text).not.toContain(owner.appId)
    }
    const path = `${operation.path}?appId=${owner.appId}`
    const beside = await client.send<unknown>(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${stranger.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...inputOf(operation), appId: stranger.appId }),
    })
    expect([beside.status, beside.code]).toEqual([400, 10001])
  },
)

test('what was refused above has changed nothing', async () => {
  expect(await readRecords()).toEqual(before)
  const fresh = await client.operate('createApplication', { appName: 'probe' })
  expect(fresh.data.status).toBe(1)
})

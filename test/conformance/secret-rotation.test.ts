import { expect, test } from 'bun:test'
import { momentFormat } from '../../src/vocabulary/moments.ts'
import { newApplication, newToken, shownSecret } from '../kit/records.ts'
import { becomes } from '../kit/waits.ts'
import {
  client,
  expectEnded,
  expectFaults,
  expectRefusal,
  expectSuccess,
  expectWorking,
  newIdleApplication,
  oauthMembers,
  succeed,
  tryToken,
} from './support.ts'

// That every process honours the end of an overlap is in test/faults/many-tokens.test.ts.

const issue = (appId: string, appSecret: string) =>
  client.call('issueToken', { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret })

async function rotate(appId: string, members: Record<string, unknown> = {}): Promise<string> {
  return shownSecret((await succeed('rotateApplicationSecret', { appId, ...members })).appSecret)
}

async function expectNoToken(appId: string, ...secrets: string[]): Promise<void> {
  for (const secret of secrets) expectRefusal(await issue(appId, secret), 'clientInvalid', oauthMembers)
}

test.concurrent('with an overlap the old secret and the tokens that it obtains go on beside the new one', async () => {
  const { appId, appSecret, token } = await newApplication(client)
  const fresh = await rotate(appId, { overlapSeconds: 600 })
  // A token that the old secret obtains lasts no longer than that secret.
  const { accessToken: byOld, expiresIn } = (await issue(appId, appSecret)).data
  expect(expiresIn).toBeWithin(540, 601)
  const { accessToken: byNew, expiresIn: whole } = (await issue(appId, fresh)).data
  expect(whole).toBe(7200)
  await expectWorking(token, byOld, byNew)
  await Bun.sleep(1000)
  await expectWorking(token, byOld, byNew)
})

test.concurrent('only the newest of the old secrets goes on: a rotation ends at once what is older', async () => {
  const { appId, appSecret, token } = await newApplication(client)
  const second = await rotate(appId, { overlapSeconds: 604_800 })
  const bySecond = await newToken(client, appId, second)
  const third = await rotate(appId, { overlapSeconds: 600 })
  await expectEnded(token)
  await expectNoToken(appId, appSecret)
  await expectWorking(bySecond)
  expectSuccess(await client.call('revokeToken', { client_id: appId, client_secret: second, token: bySecond }))
  await expectWorking(await newToken(client, appId, third))
})

test.concurrent('a rotation without an overlap ends everything before it, also what had one', async () => {
  const { appId, appSecret } = await newIdleApplication()
  const second = await rotate(appId, { overlapSeconds: 600 })
  const [byFirst, bySecond] = [await newToken(client, appId, appSecret), await newToken(client, appId, second)]
  const third = await rotate(appId, { overlapSeconds: 0 })
  await expectEnded(byFirst, bySecond)
  await expectNoToken(appId, appSecret, second)
  await expectWorking(await newToken(client, appId, third))
})

test('an overlap is 0 to 604800 seconds; null and an empty text are none', async () => {
  const { appId, appSecret } = await newIdleApplication()
  for (const overlapSeconds of [-1, 604_801, 1.5, '60', true, [], {}]) {
    expectFaults(await client.operate('rotateApplicationSecret', { appId, overlapSeconds }), ['overlapSeconds'])
  }
  await newToken(client, appId, appSecret)
  const second = await rotate(appId, { overlapSeconds: null })
  await expectNoToken(appId, appSecret)
  await rotate(appId, { overlapSeconds: '' })
  await expectNoToken(appId, second)
})

test.concurrent('of 1,001 living tokens the oldest has ended, and the others live; those that were revoked do not count', async () => {
  const { appId, appSecret, token: oldest } = await newApplication(client)
  const issued = async (count: number) => {
    const tokens: string[] = []
    for (let left = count; left > 0; left -= 50) {
      const some = Array.from({ length: Math.min(50, left) }, () => newToken(client, appId, appSecret))
      tokens.push(...(await Promise.all(some)))
    }
    return tokens
  }
  const credentials = { client_id: appId, client_secret: appSecret }
  for (const token of await issued(30)) expectSuccess(await client.call('revokeToken', { ...credentials, token }))
  const second = await newToken(client, appId, appSecret)
  const rest = await issued(998)
  await Bun.sleep(1000)
  await expectWorking(oldest)
  const newest = await newToken(client, appId, appSecret)
  await expectEnded(oldest)
  await expectWorking(...([second, rest[0], rest[500], rest.at(-1), newest] as string[]))
})

test.concurrent('an application rotates its own secret', async () => {
  const { appId, token: first } = await newApplication(client)
  const rotated = await succeed('rotateApplicationSecret', { overlapSeconds: 600 }, { token: first })
  const fresh = shownSecret(rotated.appSecret)
  expect(rotated.appId).toBe(appId)
  const token = await newToken(client, appId, fresh)
  await expectWorking(token, first)
  const trail = await succeed('pageAudit', { subject: appId, type: 'application.secretRotated' })
  expect(trail.list.map(({ actor }) => actor)).toEqual([`application:${appId}`])

  // Without an overlap, the token that called the rotation becomes invalid too.
  const last = shownSecret((await succeed('rotateApplicationSecret', {}, { token })).appSecret)
  await expectEnded(token)
  expectRefusal(await client.call('rotateApplicationSecret', {}, { token }), 'tokenInvalid')
  await expectNoToken(appId, fresh)
  await expectWorking(await newToken(client, appId, last))
})

const end = async (appId: string, as?: { token: string }) =>
  await succeed('endPreviousApplicationSecret', { appId }, as)
const detail = async (appId: string) => await succeed('getApplication', { appId })
const endsOf = async (subject: string) =>
  (await succeed('pageAudit', { subject, type: 'application.previousSecretEnded' })).list
/** Waits until no previous secret works. */
const untilOver = async (appId: string) =>
  expect(await becomes(null, async () => (await detail(appId)).overlapUntil, 3000)).toBeNull()

test.concurrent('the record tells until when the previous secret works, and null once none does', async () => {
  const { appId } = await newIdleApplication()
  expect((await detail(appId)).overlapUntil).toBeNull()
  const { timeZone } = await succeed('getSettings', {})
  const show = momentFormat(timeZone)
  const [earliest, rotated, latest] = [
    show(new Date(Date.now() + 599_000)),
    await succeed('rotateApplicationSecret', { appId, overlapSeconds: 600 }),
    show(new Date(Date.now() + 601_000)),
  ]
  const overlapUntil = rotated.overlapUntil as string
  expect(overlapUntil >= earliest && overlapUntil <= latest, overlapUntil).toBe(true)
  // Every operation that answers the record tells it, and so does the audit trail.
  const { list } = await succeed('pageApplications', { appName: rotated.appName })
  const trail = await succeed('pageAudit', { subject: appId, type: 'application.secretRotated' })
  for (const told of [
    await detail(appId),
    list.find((row) => row.appId === appId),
    await succeed('updateApplication', { appId, appName: 'other' }),
    await succeed('takeApplicationOffline', { appId }),
    trail.list[0]?.data,
  ]) {
    expect(told).toMatchObject({ overlapUntil })
  }
  await rotate(appId, { overlapSeconds: 1 })
  await untilOver(appId)
  await rotate(appId, { overlapSeconds: 600 })
  await rotate(appId)
  expect((await detail(appId)).overlapUntil).toBeNull()
})

test.concurrent('endPreviousSecret ends the previous secret and its tokens at once, and leaves the present one and its tokens', async () => {
  const { appId, appSecret, token } = await newApplication(client)
  const fresh = await rotate(appId, { overlapSeconds: 600 })
  const [byOld, byNew] = [await newToken(client, appId, appSecret), await newToken(client, appId, fresh)]
  const ended = await end(appId)
  expect(ended).toEqual(await detail(appId))
  expect(ended.overlapUntil).toBeNull()
  await expectEnded(token, byOld)
  await expectNoToken(appId, appSecret)
  await expectWorking(byNew, await newToken(client, appId, fresh))
  // What has ended does not come back with the next overlap.
  const third = await rotate(appId, { overlapSeconds: 600 })
  expectRefusal(await tryToken(byOld), 'tokenInvalid')
  await expectWorking(byNew, await newToken(client, appId, third))
  await expectNoToken(appId, appSecret)
})

test.concurrent('endPreviousSecret writes one event, and changes nothing where no previous secret works', async () => {
  const { appId } = await newIdleApplication()
  const before = await detail(appId)
  expect(await end(appId)).toEqual(before)
  await rotate(appId, { overlapSeconds: 1 })
  await untilOver(appId)
  await end(appId)
  expect(await endsOf(appId)).toEqual([])
  await rotate(appId, { overlapSeconds: 600 })
  for (const _ of [1, 2]) expect((await end(appId)).overlapUntil).toBeNull()
  const [event, ...more] = await endsOf(appId)
  expect(more).toEqual([])
  expect(event).toMatchObject({ subject: appId, data: await detail(appId) })
  expect(event?.address).toBeString()
})

test.concurrent('the end of an overlap by time is no change that an edit runs into', async () => {
  const { appId } = await newIdleApplication()
  await rotate(appId, { overlapSeconds: 1 })
  const opened = (await client.operate('getApplication', { appId })).headers.get('etag') ?? ''
  await untilOver(appId)
  const headers = { 'if-match': opened }
  expectSuccess(await client.operate('updateApplication', { appId, appName: 'edited' }, { headers }))
})

test.concurrent('an application ends its own previous secret, with the token that this obtained; operators also that of a frozen one', async () => {
  const app = await newApplication(client)
  const fresh = await rotate(app.appId, { overlapSeconds: 600 })
  const token = await newToken(client, app.appId, fresh)
  expect(await end(app.appId, app)).toMatchObject({ appId: app.appId, overlapUntil: null })
  await expectEnded(app.token)
  await expectWorking(token)
  expect((await endsOf(app.appId)).map(({ actor }) => actor)).toEqual([`application:${app.appId}`])
  await rotate(app.appId, { overlapSeconds: 600 })
  await succeed('freezeApplication', { appId: app.appId, reason: 'leak' })
  expectRefusal(await client.call('endPreviousApplicationSecret', {}, { token }), 'applicationFrozen')
  expect(await end(app.appId)).toMatchObject({ status: 2, overlapUntil: null })
})

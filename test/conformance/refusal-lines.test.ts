import { expect, test } from 'bun:test'
import { getApplication } from '../../src/applications/contract.ts'
import { issueToken } from '../../src/applications/tokens/contract.ts'
import { getDevice } from '../../src/devices/contract.ts'
import { createOperator } from '../../src/people/operators/contract.ts'
import { limits } from '../../src/vocabulary/limits.ts'
import { becomesTrue } from '../faults/support.ts'
import { Client, newApplication, startService } from '../harness.ts'
import { newPerson, signIn } from '../people.ts'
import { expectRefusal, expectSuccess } from './support.ts'

const oauth = { beside: ['error', 'error_description'] }

interface Line {
  level: number
  msg: string
  requestId?: string
  operation?: string
  actor?: string
  address?: string
}

test('the log tells of failed client secrets and of what callers may not do, without what they sent, and is not flooded', async () => {
  const service = await startService({ env: { FORECOURT_LOG_LEVEL: 'info' } })
  const client = new Client(service)
  const [owner, stranger] = [await newApplication(client), await newApplication(client)]
  const viewer = await newPerson(client, 'viewer')
  const grant = (client_id: string, client_secret: string) =>
    client.call(issueToken, { grant_type: 'client_credentials', client_id, client_secret })
  /** The log lines with this message, once `count` lines exist: a line may be written after the response. */
  async function linesOf(msg: string, count: number): Promise<Line[]> {
    const lines = () => {
      const whole = service.stderr().split('\n').slice(0, -1)
      const all: Line[] = whole.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
      return all.filter((line) => line.msg === msg)
    }
    await becomesTrue(() => lines().length >= count, 10_000)
    return lines()
  }

  const wrong = await grant(owner.appId, 'a-secret-that-is-wrong')
  expectRefusal(wrong, 'clientInvalid', oauth)
  expectRefusal(await grant('typed-into-the-wrong-field', 'a-secret-that-is-wrong'), 'clientInvalid', oauth)
  expect((await grant(owner.appId, owner.appSecret)).status).toBe(200)
  const [known, unknown, ...others] = await linesOf('client authentication failed', 2)
  expect(known).toMatchObject({
    level: 40,
    requestId: wrong.headers.get('x-request-id') ?? '',
    operation: 'issueToken',
    actor: `application:${owner.appId}`,
    address: '127.0.0.1',
  })
  expect([unknown?.actor, others]).toEqual([undefined, []])

  const asked = { appId: owner.appId, deviceNo: 'SN00000001' }
  expectRefusal(await client.call(getDevice, asked, { token: stranger.token }), 'notPermitted')
  expectRefusal(
    await client.call(createOperator, { name: 'x', role: 'admin' }, { headers: await signIn(client, viewer) }),
    'notPermitted',
  )
  expectSuccess(await client.call(getApplication, { appId: owner.appId }, { token: owner.token }))
  expect(await linesOf('request refused: missing permission', 2)).toMatchObject([
    { level: 30, operation: 'getDevice', actor: `application:${stranger.appId}`, address: '127.0.0.1' },
    { level: 30, operation: 'createOperator', actor: expect.stringMatching(/^operator:.+#\d+$/) },
  ])

  for (let index = 0; index < 3 * limits.refusalLinesAMinute; index++)
    expectRefusal(await grant('x', 'y'), 'clientInvalid', oauth)
  // The limit of lines holds for each kind of refusal alone, so other kinds are still logged.
  expectRefusal(await client.call(getDevice, asked, { token: stranger.token }), 'notPermitted')
  expect(await linesOf('request refused: missing permission', 3)).toHaveLength(3)
  const most = limits.refusalLinesAMinute
  expect(await linesOf('client authentication failed', most)).toHaveLength(most)
  for (const sent of ['a-secret-that-is-wrong', 'typed-into-the-wrong-field', owner.appSecret, 'SN00000001']) {
    expect(service.stderr()).not.toContain(sent)
  }
  await service.stop()
})

import { expect, test } from 'bun:test'
import { Client } from '../kit/client.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { cookieOf, newPassword } from '../kit/people.ts'
import { newSerial } from '../kit/records.ts'
import { longTest } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'

const place = ownWorkplace()

const withoutKey = { FORECOURT_OPERATOR_KEY: '' }
const linkLine = /^Create the first admin account \(one-time link, valid for 24 hours\): (\S+)$/gm

function linksOf(service: Service): string[] {
  return [...service.stdout().matchAll(linkLine)].map(([, link = '']) => link)
}

test('a first start prints a one-time link for the first admin, and none once there is one', async () => {
  const dataDir = place.preparedFolder()
  const first = await place.startService({ dataDir, env: withoutKey })
  const [link = '', ...others] = linksOf(first)
  expect(others).toEqual([])
  expect(link).toStartWith(`${first.url}/console/set-up#`)
  expect(await first.stop()).toBe(0)

  // The link has not been used: the next start prints another link and makes the earlier one invalid.
  const second = await place.startService({ dataDir, env: withoutKey })
  const [another = ''] = linksOf(second)
  expect(another).not.toBe(link)
  const client = new Client(second)
  const [name, password] = [newSerial('first'), newPassword()]
  const setUp = (from: string) => client.call('setUpOperator', { setUpToken: from.split('#')[1], name, password })
  expect((await setUp(link)).code).toBe(10052)
  const answers = await Promise.all(Array.from({ length: 8 }, () => setUp(another)))
  expect(answers.map(({ code }) => code).sort()).toEqual([0, ...Array(7).fill(10052)])
  const session = answers.find(({ code }) => code === 0)
  expect(session?.data).toMatchObject({ name, role: 'admin' })
  expect(await second.stop()).toBe(0)

  const third = await place.startService({ dataDir, env: withoutKey })
  expect(linksOf(third)).toEqual([])
  // A session survives the restart.
  const headers = { cookie: cookieOf(session as NonNullable<typeof session>) }
  expect((await new Client(third).call('getSession', {}, { headers })).data.name).toBe(name)
  expect(await third.stop()).toBe(0)
})

longTest('a service with an operator key prints no link, and sessions by that key end with it', async () => {
  const dataDir = place.preparedFolder()
  const first = await place.startService({ dataDir })
  expect(linksOf(first)).toEqual([])
  const signedIn = await new Client(first).call('createSession', { operatorKey: first.operatorKey })
  const headers = { cookie: cookieOf(signedIn) }
  expect((await new Client(first).call('getSession', {}, { headers })).code).toBe(0)
  expect(await first.stop()).toBe(0)
  const second = await place.startService({ dataDir })
  expect((await new Client(second).call('getSession', {}, { headers })).code).toBe(10002)
  expect(await second.stop()).toBe(0)
})

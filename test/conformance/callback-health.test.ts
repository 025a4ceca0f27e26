import { expect, test } from 'bun:test'
import { newApplication, type TestApplication } from '../kit/records.ts'
import { client, createDeviceOf, expectSuccess, newBareApplication, succeed } from './support.ts'

// Health with a receiver that answers is in test/faults/callbacks.test.ts. Here no server receives.

const healthOf = async ({ appId, token }: TestApplication) => await succeed('getCallbackHealth', { appId }, { token })

const nothing = {
  heldUntil: null,
  failingSince: null,
  failingReason: null,
  lastSuccessTime: null,
  hasSucceeded: false,
  lastHour: { attempts: 0, failed: 0 },
  lastDay: { attempts: 0, failed: 0 },
  countedFrom: null,
  missedEvents: 0,
  missedIsExact: true,
  missedFrom: null,
  missedTo: null,
  waitingEvents: 0,
  waitingRetries: 0,
  waitingSince: null,
  dead: 0,
  failures: [],
}

test('an application without a callback has nothing to tell', async () => {
  const application = await newBareApplication()
  expectSuccess(await createDeviceOf(application))
  const { appId } = application
  expect(await healthOf(application)).toEqual({ appId, state: 'off', callbacks: 'on', ...nothing })
})

test('a callback that nobody answers is failing or held, and says what of', async () => {
  const application = await newApplication(client, {
    thirdPartyConfig: { operatorName: 'Operator', callbackUrl: 'https://nowhere.example.com/callback' },
  })
  for (let made = 0; made < 2; made++) expectSuccess(await createDeviceOf(application))
  const deadline = performance.now() + 60_000
  let health = await healthOf(application)
  while (health.waitingRetries < 3 || health.failingSince === null) {
    expect(performance.now()).toBeLessThan(deadline)
    await Bun.sleep(200)
    health = await healthOf(application)
  }
  const { lastHour, lastDay, failures } = health
  expect(['failing', 'held']).toContain(health.state)
  expect([health.waitingEvents, health.dead, health.lastSuccessTime, health.hasSucceeded]).toEqual([0, 0, null, false])
  expect(health.waitingSince).toBe(failures.map(({ timeFrom }) => timeFrom).sort()[0] ?? '')
  expect(lastHour.attempts).toBeGreaterThanOrEqual(3)
  expect([lastHour.failed, lastDay]).toEqual([lastHour.attempts, lastHour])
  expect(failures.reduce((sum, { waiting }) => sum + waiting, 0)).toBe(3)
  for (const { error, reason, responseStatus, dead } of failures) {
    expect([responseStatus, dead, reason.length > 0]).toEqual([null, 0, true])
    expect(['nameNotFound', 'nameServerSilent']).toContain(error)
  }
})

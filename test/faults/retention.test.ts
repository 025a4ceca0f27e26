import { afterAll, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { openDatabase } from '../../src/database/open.ts'
import { runUpkeep } from '../../src/service/upkeep.ts'
import { Client } from '../kit/client.ts'
import { libfaketime, movedClock } from '../kit/clock.ts'
import { hasOldestPostgres } from '../kit/database.ts'
import { OldestServer } from '../kit/oldest-server.ts'
import { Receiver } from '../kit/receiver.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { becomesTrue } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'

// Weeks of a database, whose clock is moved ahead: what a service has written goes after its days.

const place = new Workplace()
afterAll(() => place.clear(), 120_000)

const given = { FORECOURT_STATE_DAYS: '5', FORECOURT_DELIVERY_DAYS: '20', FORECOURT_EVENT_DAYS: '30' }

test.skipIf(!hasOldestPostgres || !existsSync(libfaketime))(
  'what a service has written goes after its days, each kind after its own, and devices stay',
  async () => {
    const clock = join(place.home, 'clock')
    const pass = (days: number) => writeFileSync(clock, `+${days}d\n`)
    pass(0)
    const server = await OldestServer.start(place.newFolder(), [], 5432, movedClock(clock))
    const receiver = await Receiver.start()
    const env = { DATABASE_URL: server.url, FORECOURT_PRIVATE_CALLBACKS: 'allow', ...given }
    const service = await place.startService({ env })
    const sql = openDatabase({ target: server.url, connections: 1, statementTimeoutMs: 10_000 })
    try {
      const client = new Client(service)
      const thirdPartyConfig = { operatorName: 'Operator', callbackUrl: receiver.url('/callback') }
      const { appId, token } = await newApplication(client, { thirdPartyConfig })
      const body = deviceBody(appId)
      const { deviceNo } = body
      const made = await client.call('createDevice', body, { token, headers: { 'idempotency-key': 'first' } })
      const reported = await client.call('reportDeviceState', { deviceNo, status: 2 }, { token })
      const refused = await client.call('createDevice', body, { token })
      expect([made.code, reported.code, refused.code]).toEqual([0, 0, 20017])
      const kept = async () => {
        const [row] = await sql`
          select (select count(*)::int from device where app_id = ${appId}) as devices,
            (select count(*)::int from event where app_id = ${appId} and type = 'device.bound') as events,
            (select count(*)::int from state_change where app_id = ${appId}) as changes,
            (select count(*)::int from delivery where app_id = ${appId} and type = 'device.bound' and status = 2) as deliveries,
            (select count(*)::int from refusal where app_id = ${appId}) as refusals,
            (select count(*)::int from idempotency_key where app_id = ${appId}) as keys`
        return { ...row }
      }
      const all = { devices: 1, events: 1, changes: 1, deliveries: 1, refusals: 1, keys: 1 }
      expect(await becomesTrue(async () => Bun.deepEquals(await kept(), all))).toBe(true)
      await service.stop()
      const after = async (days: number) => {
        pass(days)
        const settings = { deliveryDays: 20, eventDays: 400, refusalDays: 7, isDistributed: false }
        await runUpkeep(sql, pino({ level: 'silent' }), settings, [])
        return kept()
      }
      expect(await after(0)).toEqual(all)
      expect(await after(2)).toEqual({ ...all, keys: 0 })
      const inWeek = { ...all, keys: 0, changes: 0, refusals: 0 }
      expect(await after(8)).toEqual(inWeek)
      expect(await after(19)).toEqual(inWeek)
      expect(await after(21)).toEqual({ ...inWeek, deliveries: 0 })
      expect(await after(29)).toEqual({ ...inWeek, deliveries: 0 })
      expect(await after(32)).toEqual({ ...inWeek, deliveries: 0, events: 0 })
    } finally {
      await sql.end({ timeout: 1 })
      receiver.stop()
      await server.stop()
    }
  },
)

import { expect, test } from 'bun:test'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { becomesTrue } from '../kit/waits.ts'

// A database that accepts connections, but refuses to write or to let anyone sign in.

const place = ownWorkplace()

test('readiness says that nothing can be written, or that nobody is let in, and all is back when that is over', async () => {
  const database = await place.startDatabase()
  const { service, client } = await place.start({ env: { DATABASE_URL: database.url() } })
  const { appId, token } = await newApplication(client)
  const outcome = async () => {
    const ready = await fetch(`${service.url}/readyz`)
    const { data } = (await ready.json()) as { data: { checks: { name: string; ok: boolean }[] } }
    const { code } = await client.call('createDevice', deviceBody(appId), { token })
    // `prices` fails from the applier's next look on, which may come at any time.
    const failed = data.checks.filter(({ name, ok }) => !ok && name !== 'prices')
    return [ready.status, code, ...failed.map(({ name }) => name)]
  }
  const isBack = () => becomesTrue(async () => (await outcome()).join() === '200,0')
  const staysAt = async (expected: (string | number)[]) => {
    await becomesTrue(async () => (await outcome()).join() === expected.join())
    for (let tries = 0; tries < 10; tries++) expect(await outcome()).toEqual(expected)
  }
  const { user, password } = database.connection
  await database.run(async (sql) => {
    const alter = (change: string) => sql.unsafe(`begin read write; alter role ${user} ${change}; commit`)
    const cutOthers = () => sql`
      select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'forecourt %'`
    expect(await outcome()).toEqual([200, 0])

    await alter('set default_transaction_read_only = on')
    await cutOthers()
    await staysAt([503, 50003, 'writable'])
    expect((await client.call('pageSites', {}, { token })).status).toBe(200)
    await alter('reset default_transaction_read_only')
    expect(await isBack(), 'writes are back').toBe(true)

    await alter("password 'another'")
    await cutOthers()
    await staysAt([503, 50003, 'database', 'writable', 'migrations'])
    await alter(`password '${password}'`)
    expect(await isBack(), 'the service is let in again').toBe(true)
  })
  expect(await service.stop()).toBe(0)
  await database.stop()
})

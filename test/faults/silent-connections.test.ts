import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { newApplication } from '../kit/records.ts'
import { newSharedDatabase } from '../kit/shared-server.ts'
import { DatabaseLink } from './database-link.ts'
import { backAfter, everyOperation } from './every-operation.ts'

const place = ownWorkplace()

test('connections that fall silent are replaced, and every operation is back within 10 s', async () => {
  const { host, port, user, password, database } = (await newSharedDatabase()).connection
  const link = new DatabaseLink({ path: join(host, `.s.PGSQL.${port}`) })
  const url = `postgres://${user}:${password}@127.0.0.1:${await link.start()}/${database}`
  const { service, client } = await place.start({ env: { DATABASE_URL: url } })
  const operations = await everyOperation(client, service, await newApplication(client))
  const callAll = () => Promise.all(Object.values(operations).map((operation) => operation()))
  // Every pool opens its connections, and some of them become idle.
  for (let round = 0; round < 3; round++) await callAll()
  const lost = link.silence()
  expect(lost).toBeGreaterThan(15)
  const back = await backAfter(operations, performance.now())
  expect(back.filter(({ ms }) => ms > 10_000)).toEqual([])
  // Called repeatedly, each operation succeeds, so no silent connection is left.
  for (let round = 0; round < 4; round++) {
    expect((await callAll()).map(({ status }) => status)).toEqual(Object.keys(operations).map(() => 200))
  }
  expect(await service.stop()).toBe(0)
  link.stop()
})

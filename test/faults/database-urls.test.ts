import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createDevice } from '../../src/devices/contract.ts'
import { readRecord } from '../../src/embedded/record.ts'
import { forecourt } from '../cli/support.ts'
import { Client, deviceBody, newApplication, runServiceToItsEnd, type Service } from '../harness.ts'
import { Workplace, withSql } from './support.ts'

// What tells the service where its database is: DATABASE_URL alone, and no variable of another program.

const place = new Workplace()
afterAll(() => place.clear(), 120_000)

/** All that the driver, libpq and the programs of PostgreSQL read. */
const variablesOfOthers = Object.fromEntries(
  [
    ...[
      'HOST',
      'HOSTADDR',
      'PORT',
      'USER',
      'USERNAME',
      'PASSWORD',
      'PASSFILE',
      'DATABASE',
      'DATA',
      'APPNAME',
      'OPTIONS',
    ],
    ...['SSL', 'SSLMODE', 'SSLNEGOTIATION', 'SSLROOTCERT', 'SERVICE', 'TARGET_SESSION_ATTRS', 'TARGETSESSIONATTRS'],
    ...['MAX', 'IDLE_TIMEOUT', 'CONNECT_TIMEOUT', 'MAX_LIFETIME', 'MAX_PIPELINE', 'BACKOFF', 'KEEP_ALIVE', 'PREPARE'],
    ...['DEBUG', 'FETCH_TYPES', 'PUBLICATIONS', 'CLIENTENCODING', 'TZ', 'DATESTYLE', 'GEQO', 'SYSCONFDIR', 'LOCALEDIR'],
  ].map((name) => [`PG${name}`, 'nonsense']),
)

async function createOne(service: Service): Promise<void> {
  const client = new Client(service)
  const app = await newApplication(client)
  const answer = await client.call(createDevice, deviceBody(app.appId), { token: app.token })
  expect(answer.status, answer.text).toBe(200)
}

/** Has a database of its own, beside which the second test makes one more. */
let service: Service

test('variables of other programs change nothing: the first start, and a backup beside it', async () => {
  service = await place.startService({ dataDir: place.newFolder(), env: variablesOfOthers })
  await createOne(service)
  const file = join(place.home, 'backup.fcb')
  const saved = await forecourt(['backup', file], { ...variablesOfOthers, FORECOURT_DATA_DIR: service.dataDir })
  expect(saved, saved.stderr).toMatchObject({ code: 0 })
})

test('a database whose name must be encoded is used, and a parameter that is unknown is refused', async () => {
  const record = readRecord(service.dataDir)
  if (record === undefined) throw new Error('there is no record of the database')
  const { socketDir, port, user, password } = record
  await withSql({ host: socketDir, port, user, password, database: 'postgres' }, (sql) =>
    sql.unsafe('create database "a b#c"'),
  )
  const query = `host=${encodeURIComponent(socketDir)}&port=${port}&channel_binding=prefer&pool_timeout=5&schema=public`
  const url = `postgres://${user}:${password}@localhost/a%20b%23c?${query}`
  const env = { ...variablesOfOthers, DATABASE_URL: `"${url}"\n` }
  const named = await place.startService({ dataDir: place.newFolder(), env })
  await createOne(named)
  await named.stop()
  const refused = await runServiceToItsEnd({
    dataDir: place.newFolder(),
    env: { DATABASE_URL: `${url}&sslmod=require` },
  })
  expect(refused).toMatchObject({
    code: 1,
    stdout: '',
    stderr:
      'DATABASE_URL has the parameter sslmod, which Forecourt does not know; the nearest that it knows is sslmode.\n',
  })
  await service.stop()
}, 120_000)

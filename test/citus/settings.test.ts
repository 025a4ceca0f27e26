import { afterAll, expect, test } from 'bun:test'
import { runServiceToItsEnd } from '../kit/service.ts'
import { Workplace } from '../kit/workplace.ts'
import { coordinatorUrl } from './cluster.ts'

const place = new Workplace()
afterAll(() => place.clear(), 60_000)

test.if(coordinatorUrl !== undefined)(
  'a start is refused with the settings that sessions on the nodes lack, and with them all is as before',
  async () => {
    const database = await place.findDatabase()
    const { database: name } = database.connection
    const env = { DATABASE_URL: database.url() }
    await database.run((sql) => sql.unsafe(`alter role current_user in database "${name}" reset TimeZone`))
    const refused = await runServiceToItsEnd({ dataDir: place.newFolder(), env })
    expect(refused.code).toBe(1)
    const [statement = ''] = /alter role .*;/.exec(refused.stderr) ?? []
    expect(statement).toMatch(/^alter role \S+ in database \S+ set "TimeZone" = 'UTC';$/)
    await database.run((sql) => sql.unsafe(statement))
    const service = await place.startService({ env })
    expect(await service.stop()).toBe(0)
  },
)

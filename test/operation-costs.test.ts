import { expect, test } from 'bun:test'
import { MeasuredDatabase } from './costs/measured-database.ts'
import { Meter } from './costs/meter.ts'
import { boundOf, manyInGate, measureOperations, mostOf } from './costs/walk.ts'
import { Client } from './kit/client.ts'
import { hasOldestPostgres } from './kit/database.ts'
import { newPerson, signIn } from './kit/people.ts'
import { newApplication } from './kit/records.ts'
import { atScale, isLong, longTest } from './kit/scale.ts'
import { Workplace } from './kit/workplace.ts'

// No operation may read more because its tables have more rows, whether PostgreSQL has statistics or not.

test.if(hasOldestPostgres)(
  'every operation reads as much beside many rows as beside few',
  async () => {
    const many = atScale(manyInGate, 200_000)
    // Without statistics the planner errs more: of the faults so far, five of six were seen then.
    const costs = await measureOperations(many, { withStatistics: isLong })
    const told = ({ name, small, large, analysed }: (typeof costs)[number]) =>
      `${name}: ${small.read} → ${large.read} without statistics (${large.dearest}), ${analysed.read} with (${analysed.dearest})`
    const grown = costs.filter((cost) => !cost.isOpen && mostOf(cost) > boundOf(cost, many))
    expect(grown.map(told)).toEqual([])
    // Operations marked as growing (`isOpen`) that no longer grow: their mark must be removed.
    const mended = costs.filter((cost) => cost.isOpen && mostOf(cost) <= boundOf(cost, many))
    expect(mended.map(told)).toEqual([])
    // An allowance (`allowed`) that the operation does not need could hide a later fault.
    expect(costs.filter(({ allowed, isOpen }) => allowed && isOpen)).toEqual([])
  },
  600_000,
)

longTest('pages of several applications do not read what the others have', async () => {
  const place = new Workplace()
  const database = await MeasuredDatabase.start(place.newFolder(), ['autovacuum=off'])
  const service = await place.startService({ env: { DATABASE_URL: database.url } })
  try {
    const client = new Client(service)
    const { sql } = database
    const meter = await Meter.open(sql)
    const appIds = [(await newApplication(client)).appId, (await newApplication(client)).appId]
    const developer = await signIn(client, await newPerson(client, 'developer', appIds))
    // One in fifty is not delivered, but of the first application only 8, its newest.
    await sql`
        insert into delivery (app_id, id, type, status, attempts, next_attempt_at, event_time, created_at, finished_at, attempt_log)
        select 'other ' || i % 10, i, 'device.bound', status, 1, case status when 1 then now() + interval '1 day' end,
          now(), now(), case when status > 1 then now() end, '[]'
        from generate_series(1, 200000) i cross join lateral (
          select case when i % 10 = 0 and i <= 196000 then 2 when i % 1000 < 10 then 3
            when i % 1000 between 20 and 29 then 1 else 2 end as status) s`
    await sql`
        insert into refusal (app_id, time, request_id, operation, code, actor)
        select 'other ' || i % 300, now() - i * interval '1 second', i::text, 'createDevice', 10001, 'x'
        from generate_series(1, 60000) i`
    const readFor = async (work: () => Promise<void>) =>
      (await meter.statementsOf(work)).find(({ text }) => text.includes('page_key'))?.read
    for (const statistics of ['without', 'with']) {
      if (statistics === 'with') await sql`vacuum analyze`
      const asked = { isDelivered: 'false', pageSize: 5 } as const
      let cursor: string | null = null
      const first = await readFor(async () => {
        cursor = (await client.operate('pageDeliveries', asked)).data.nextCursor
      })
      const second = await readFor(async () => {
        const { list } = (await client.operate('pageDeliveries', { ...asked, cursor })).data
        expect(list.map(({ appId }) => appId)).toEqual([0, 0, 0, 1, 1].map((number) => `other ${number}`))
      })
      const refused = await readFor(async () => {
        const own = await client.call('pageRefusals', { sort: 'time', order: 'desc' }, { headers: developer })
        expect(own.data.list).toEqual([])
      })
      // The second application has 400.
      const over = Object.entries({ first, second, refused }).filter(([, read = 0]) => read > 600)
      expect([statistics, over]).toEqual([statistics, []])
    }
  } finally {
    await service.stop()
    await database.stop()
    await place.clear()
  }
})

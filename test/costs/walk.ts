import { operations } from '../../src/reference/operations.ts'
import { Client } from '../kit/client.ts'
import { atScale } from '../kit/scale.ts'
import { Workplace } from '../kit/workplace.ts'
import { type Measured, send } from './calls.ts'
import { fill } from './fill.ts'
import { MeasuredDatabase } from './measured-database.ts'
import { type Blocks, Meter } from './meter.ts'
import { measuredOf } from './operations.ts'
import { variants } from './variants.ts'
import { makeWorld, measuredOrigin } from './world.ts'

type Found = Blocks & { dearest: string }

/** The blocks of 8 kB that one operation, or one variant of it, reads and is the first to change. */
export interface Cost extends Pick<Measured, 'allowed' | 'isOpen'> {
  name: string
  small: Blocks
  /** Without statistics, with plans that were made while the tables were empty. */
  large: Found
  /** After `vacuum analyze`. */
  analysed: Found
}

/**
 * One more than the 5 executions for which PostgreSQL plans a prepared statement anew; from then on it may keep a
 * general plan.
 */
const callsWhenEmpty = 6

export const few = 1_000

/**
 * Calls every operation of one running service: while its database is empty, with few devices of an application and the
 * rows that belong to them, and with `many`, first without statistics and then with them. Each figure is the least of
 * several calls, because the service's background work adds to some of them. Unless the figures must be `precise`, an
 * operation with many rows is called again only while it reads more than its bound. When it is not measured
 * `withStatistics`, both figures of many rows are those without.
 */
export async function measureOperations(
  many: number,
  { precise = false, withStatistics = true } = {},
): Promise<Cost[]> {
  const place = new Workplace()
  const database = await MeasuredDatabase.start(place.newFolder(), ['autovacuum=off'])
  const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(null, { status: 204 }) })
  const env = {
    DATABASE_URL: database.url,
    FORECOURT_PRIVATE_CALLBACKS: 'allow',
    FORECOURT_PUBLIC_URL: measuredOrigin,
  }
  const service = await place.startService({ env })
  try {
    const { sql } = database
    const meter = await Meter.open(sql)
    const world = await makeWorld(new Client(service), sql, `http://127.0.0.1:${receiver.port}/`)
    await meter.learnIdle(() => Bun.sleep(2_500))
    const walk = async (calls: number, isLittle: (read: number, name: string) => boolean = () => false) => {
      const costs = new Map<string, Found>()
      for (const { name, operation, call } of all()) {
        let least: Found | undefined
        for (let made = 0; made < calls && !(least && isLittle(least.read, name)); made++) {
          const next = await call(world)
          const found = await meter.blocksOf(() => send(world, operation, next))
          if (least === undefined || found.read < least.read) least = found
        }
        costs.set(name, least as Found)
      }
      return costs
    }
    for (const { operation, call } of all()) {
      const isRead = operation.method === 'GET'
      // In the gate each write is prepared and sent once: what most writes have in common is executed often enough.
      const inputs = isRead ? 1 : atScale(1, callsWhenEmpty)
      for (let made = 0; made < inputs; made++) {
        const next = await call(world)
        for (let sent = 0; sent < (isRead ? callsWhenEmpty : 1); sent++) await send(world, operation, next)
      }
    }
    await fill(sql, world.owner, 1, few + 1)
    const small = await walk(atScale(1, 2))
    const isWithin = (read: number, name: string) => !precise && read <= growthBound((small.get(name) as Found).read)
    await fill(sql, world.owner, few + 1, many + 1)
    const large = await walk(3, isWithin)
    if (withStatistics) await sql`vacuum analyze`
    const analysed = withStatistics ? await walk(4, isWithin) : large
    const of = (costs: Map<string, Found>, name: string) => costs.get(name) as Found
    return all().map(({ name, allowed, isOpen }) => ({
      name,
      ...(allowed && { allowed }),
      ...(isOpen && { isOpen }),
      small: of(small, name),
      large: of(large, name),
      analysed: of(analysed, name),
    }))
  } finally {
    receiver.stop(true)
    await service.stop()
    await database.stop()
    await place.clear()
  }
}

/** Every operation, and its variants that run other SQL.  */
function all() {
  const plain = operations.map((operation) => ({ name: operation.id, operation, ...measuredOf(operation.id) }))
  const more = Object.entries(variants).map(([name, call]) => {
    const operation = operations.find(({ id }) => name.startsWith(`${id}: `))
    if (operation === undefined) throw new Error(`there is no operation of ${name}`)
    return { name, operation, ...call }
  })
  return [...plain, ...more]
}

/** The number of rows in the short run, for which the allowances are defined. */
export const manyInGate = 30_000

const growthBound = (readWithFew: number): number => 1.5 * readWithFew + 40

/** The most that an operation may read with many rows: a little more than with few, because indexes are deeper. */
export const boundOf = ({ small, allowed }: Cost, many: number): number =>
  Math.max(growthBound(small.read), ((allowed?.blocks ?? 0) * many) / manyInGate)

export const mostOf = ({ large, analysed }: Cost): number => Math.max(large.read, analysed.read)

import { afterAll, expect, test } from 'bun:test'
import postgres, { type Row } from 'postgres'
import type { TSchema } from 'typebox'
import { createAct } from '../src/bulk/acts/contract.ts'
import { operations } from '../src/reference/operations.ts'
import type { Operation } from '../src/vocabulary/operation.ts'
import { shownKey } from '../src/vocabulary/values.ts'
import { measuredOf } from './costs/operations.ts'
import { allImportsOver, makeWorld, measuredOrigin } from './costs/world.ts'
import { Client } from './kit/client.ts'
import { embeddedConnection } from './kit/database.ts'
import { atScale } from './kit/scale.ts'
import { startService } from './kit/service.ts'

// A member that a contract does not name is ignored, even when a table or record has one of that name. Each write is
// sent unchanged, and with all such members: both must be answered the same, and change the same rows in the same way.

const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(null, { status: 204 }) })
const service = await startService({
  env: {
    FORECOURT_PRIVATE_CALLBACKS: 'allow',
    FORECOURT_PUBLIC_URL: measuredOrigin,
    // Attempts would change rows at any time.
    FORECOURT_CALLBACKS: 'paused',
  },
})
const client = new Client(service)
const { cluster: _, ...connection } = embeddedConnection(service.dataDir)
const ids = { to: 20, from: [20], serialize: String, parse: Number }
const database = postgres({ ...connection, fetch_types: false, types: { bigint: ids }, onnotice: () => {} })
// Identifiers of as many digits as no other number has.
await database`select setval(oid::regclass, 1000000) from pg_class where relkind = 'S'`
const world = await makeWorld(client, database, `http://127.0.0.1:${receiver.port}/`)
afterAll(async () => {
  receiver.stop(true)
  await database.end()
  await service.stop()
})

/** The names of all columns and record members, in the spellings that a caller could use. */
async function namesWithin(): Promise<string[]> {
  const columns = await database<
    { column_name: string }[]
  >`select distinct column_name from information_schema.columns where table_schema = 'public'`
  const names = new Set<string>(['__proto__', 'constructor', 'toString', 'passwordHash'])
  for (const { column_name: column } of columns) {
    names.add(column)
    names.add(column.replace(/_(\w)/g, (_: string, letter: string) => letter.toUpperCase()))
  }
  const collect = (schema: TSchema) => {
    const { properties = {}, items, anyOf = [] } = schema as Shape
    for (const [member, within] of Object.entries(properties)) {
      names.add(member)
      collect(within)
    }
    for (const within of [...anyOf, ...(items === undefined ? [] : [items])]) collect(within)
  }
  for (const { data } of operations) collect(data)
  return [...names]
}

const names = await namesWithin()
const values = ['planted', 1, null, '2020-01-01T00:00:00Z', ['planted'], { planted: true }, 'a\0b']
/** The short run gives each name one of the values, the long run each. */
const shifts = atScale([0], [...values.keys()])

interface Shape {
  properties?: Record<string, TSchema>
  items?: TSchema
  anyOf?: TSchema[]
  [shownKey]?: Shape
}

/**
 * What the kind of records decides, which is strict as a query is: an unknown filter must not fit everything. And the
 * answer of a passkey, in which a browser may put what it likes.
 */
const isOpaque = (member: string) => ['filter', 'set', 'credential'].includes(member)

/** The body as JSON text, with all these names added to each object that does not declare them. */
function loaded(body: unknown, schema: Shape, shift: number): string {
  // The rows of a batch are checked one by one, by a separate schema.
  const whole = schema.properties === undefined ? (schema[shownKey] ?? schema) : schema
  const within = [whole, ...((whole.anyOf ?? []) as Shape[])]
  if (Array.isArray(body)) {
    const items = within.find((option) => option.items !== undefined)?.items ?? {}
    return `[${body.map((item) => loaded(item, items, shift)).join(',')}]`
  }
  if (typeof body !== 'object' || body === null) return JSON.stringify(body)
  const declared: Record<string, TSchema> = within.find((option) => option.properties !== undefined)?.properties ?? {}
  const own = Object.entries(body).map(([member, within]) => [
    member,
    isOpaque(member) ? JSON.stringify(within) : loaded(within, declared[member] ?? {}, shift),
  ])
  const added = names
    .filter((name) => !Object.hasOwn(declared, name) && !Object.hasOwn(body, name))
    .map((name, index) => [name, JSON.stringify(values[(index + shift) % values.length])])
  return `{${[...own, ...added].map(([member, text]) => `${JSON.stringify(member)}:${text}`).join(',')}}`
}

/** What the service writes at its own time: figures, refusals, that it is there; and versions of what its processes hold. */
const ownRows = [
  ...['minute_figures', 'usage_hour', 'fleet_count', 'database_size', 'service_hearing', 'refusal', 'region_version'],
  ...['device_catalogue', 'platform_count'],
]
const tables = await database<{ name: string }[]>`
  select relname as name from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname not in ${database(ownRows)}`
const allRows = tables
  .map(({ name }) => `select '${name} ' || to_json(t)::text as text from "${name}" t`)
  .join(' union all ')

async function rowsNow(): Promise<Set<string>> {
  return new Set((await database.unsafe(allRows)).map((row: Row) => row.text))
}

/** The text without the values that differ between any two requests. */
function withoutOwn(text: string): string {
  return (
    text
      .replace(/\d{4}-\d\d-\d\d[T ][\d:.+]+Z?/g, 'TIME')
      .replace(/[0-9a-f]{12,}/g, 'HEX')
      .replace(/[A-Za-z0-9_+/=-]{22,}|[a-z2-7]{4}(-[a-z2-7]{4}){3}/g, 'SECRET')
      .replace(/(?<![\w.])\d{3,16}(?![\w.])/g, 'NUMBER')
      // The place of a token among those of its application.
      .replace(/"id":\d+/g, '"id":NUMBER')
  )
}

/** What one call answers, and the rows that it adds, changes and removes. */
async function outcomeOf(operation: Operation, shift?: number) {
  const { input, as = world.owner } = await measuredOf(operation.id).call(world)
  const before = await rowsNow()
  const sent = shift === undefined ? JSON.stringify(input) : loaded(input, operation.body as TSchema, shift)
  const { status, code, data } = await client.call(operation, sent, as)
  // What was accepted is carried out behind the answer.
  if (operation === createAct) await allImportsOver(world)
  const after = await rowsNow()
  return {
    status,
    code,
    data: withoutOwn(JSON.stringify(data)),
    written: [...after]
      .filter((row) => !before.has(row))
      .map(withoutOwn)
      .sort(),
    removed: [...before].filter((row) => !after.has(row)).length,
  }
}

for (const operation of operations.filter(({ method, takes }) => method === 'POST' && takes === undefined)) {
  test(`${operation.id} takes no member that its contract does not name`, async () => {
    // The first may have more to change than those that follow.
    const { input, as = world.owner } = await measuredOf(operation.id).call(world)
    await client.call(operation, input, as)
    if (operation === createAct) await allImportsOver(world)
    const plain = await outcomeOf(operation)
    // Sign-on is off here, and callbacks are paused.
    expect([0, 10_060, 10_042]).toContain(plain.code)
    for (const shift of shifts) expect(await outcomeOf(operation, shift)).toEqual(plain)
  })
}

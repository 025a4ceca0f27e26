import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'

// The first and last line of a backup come from a file, so they are checked as a request is.

const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const name = Type.String({ minLength: 1, maxLength: 63 })
const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
const mostTables = 1_000

const TableHead = Type.Object({
  name,
  columns: Type.Array(name, { minItems: 1, maxItems: 1_600 }),
  rows: count,
  // Ranges of IDs; null for a table without partitions.
  partitions: Type.Optional(
    Type.Union([Type.Array(Type.Object({ first: count, end: count }), { maxItems: 10_000 }), Type.Null()]),
  ),
})
export type TableHead = Static<typeof TableHead>

const Head = Type.Object({
  forecourtBackup: Type.Integer({ minimum: 1 }),
  // RFC 3339.
  takenAt: Type.String({ maxLength: 40, pattern: '^\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z$' }),
  // For people.
  postgres: Type.String({ maxLength: 200 }),
  migrations: Type.Array(
    Type.Object({
      version: Type.Integer({ minimum: 1 }),
      file: Type.String({ maxLength: 200 }),
      checksum: Type.Union([Type.String({ maxLength: 128 }), Type.Null()]),
    }),
    { minItems: 1, maxItems: 10_000 },
  ),
  secrets: Type.Object({
    // The keys that the callback secrets are sealed with.
    keyIds: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 1_000 }),
    // These keys themselves, unless a file was named for them: 32 bytes each.
    keys: Type.Array(Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$' }), { maxItems: 1_000 }),
  }),
  // The last number of each sequence.
  sequences: Type.Record(Type.String(), Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  // Each row comes after the rows that it refers to.
  tables: Type.Array(TableHead, { maxItems: mostTables }),
})
export type Head = Static<typeof Head>

const Section = Type.Object({ table: name, rows: count, bytes: count, sha256 })
export type Section = Static<typeof Section>

const Tail = Type.Object({
  sections: Type.Array(Section, { maxItems: mostTables }),
  // Of every byte of the file before this line's member.
  sha256,
})
export type Tail = Static<typeof Tail>

const [head, tail] = [Compile(Head), Compile(Tail)]

export const isHead = (value: unknown): value is Head => head.Check(value)
/** The sections have the tables and row counts of the head. */
export const isTail = (value: unknown, { tables }: Head): value is Tail =>
  tail.Check(value) &&
  value.sections.length === tables.length &&
  value.sections.every(({ table, rows }, index) => table === tables[index]?.name && rows === tables[index]?.rows)

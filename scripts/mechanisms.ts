import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Mechanisms of the service, each with what its uses look like in the source and how many there may be. A feature adds a
 * value to one of them; a new mechanism takes the place of another one. `test/structure.test.ts` holds the bounds.
 */
export const mechanisms = {
  'ways to write (`writeLane`, `carryOut`, `writeAlone`)': {
    uses: /^export async function (carryOut|writeAlone)|^export function writeLane/,
    most: 3,
  },
  'database routines': { uses: / = routine\($/, most: 8 },
  'readers of filters': { uses: /^export function readFilters/, most: 1 },
  'time zones (`setTimeZone`)': { uses: /^export function setTimeZone/, most: 1 },
  'repeating timers (`Loop`)': { uses: /\bsetInterval\(|^export class Loop\b/, most: 1 },
  'queues and turns (classes)': {
    uses: /^(export )?class (GroupCommit|Turns|BatchOrder|Reads|Pace|Throttle|\w*Queue)\b/,
    most: 6,
  },
  'classes of errors': { uses: /\bextends (\w*Error|Refusal)\b/, most: 3 },
  classes: { uses: /^(export )?(abstract )?class /, most: 85 },
  'sets of dependencies (`interface Parts` and its like)': { uses: /\binterface \w*Parts\b/, most: 2 },
  'places that ask whether the database is distributed': { uses: /\bisDistributed\b/, most: 35 },
} satisfies Record<string, { uses: RegExp; most: number }>

/** Counts the lines of `src`, without its tests, that use each mechanism. */
export function countMechanisms(source: string): Record<keyof typeof mechanisms, number> {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  const own = files.filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  const lines = own.flatMap((path) => readFileSync(join(source, path), 'utf8').split('\n'))
  const counts = Object.entries(mechanisms).map(([name, { uses }]) => [
    name,
    lines.filter((line) => uses.test(line)).length,
  ])
  return Object.fromEntries(counts)
}

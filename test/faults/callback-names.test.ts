import { expect } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { projectFolder } from '../kit/folders.ts'
import { longTest } from '../kit/scale.ts'

type Sent = { error: string | null; responseStatus: number | null; ms: number }

const isNode = process.env.FORECOURT_TEST_RUNTIME === 'node'
const client = join(
  projectFolder,
  ...(isNode ? ['dist', 'deliveries', 'client.js'] : ['src', 'deliveries', 'client.ts']),
)

longTest('name servers that say nothing delay nobody but their own', () => {
  const runtime = isNode ? 'node' : process.execPath
  const { stdout, stderr } = spawnSync(runtime, [join(import.meta.dirname, 'names-probe.mjs'), client], {
    encoding: 'utf8',
    timeout: 110_000,
  })
  expect(stdout, stderr).not.toBe('')
  const probed: {
    [sent in 'unknown' | 'private_' | 'localhost' | 'remembered']: Sent
  } & { silent: Sent[]; honest: Sent[]; passwords: number[]; gapMs: number } = JSON.parse(stdout)
  expect(probed.unknown.error).toBe('the name was not found (ENOTFOUND)')
  expect(probed.private_.error).toBe('the address is private, local or reserved')
  expect(probed.localhost.responseStatus).toBe(200)
  expect(new Set(probed.silent.map(({ error }) => error))).toEqual(new Set(['the name server did not answer']))
  expect(probed.honest.map(({ responseStatus }) => responseStatus)).toEqual(Array(30).fill(200))
  // A look-up takes a few milliseconds; queued behind a silent name server it would take seconds. The median is
  // compared, because on a busy machine a few look-ups are slow by chance.
  const median = (all: number[]) => all.toSorted((a, b) => a - b)[all.length >> 1] as number
  expect(median(probed.honest.map(({ ms }) => ms))).toBeLessThan(1_500)
  expect(median(probed.passwords)).toBeLessThan(1_500)
  expect(median(probed.silent.map(({ ms }) => ms))).toBeLessThan(60_000)
  expect(probed.gapMs, 'between two questions of one application').toBeGreaterThan(1_500)
  expect(probed.remembered).toMatchObject({ error: 'the name server did not answer', isAsked: false })
})

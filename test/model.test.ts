import { afterAll, expect, test } from 'bun:test'
import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { Client } from './kit/client.ts'
import { atScale } from './kit/scale.ts'
import { startService } from './kit/service.ts'
import { applicationCommands, readApplication } from './model/applications.ts'
import { billingRuleCommands } from './model/billing-rules.ts'
import { createCommands, key, serial } from './model/creates.ts'
import { devicePageCommands, readPages } from './model/device-pages.ts'
import { deviceCommands } from './model/devices.ts'
import { feedCommands, followFeed } from './model/feed.ts'
import { ownershipCommands, readHistory } from './model/ownership.ts'
import { readAllRecords, siteCommands } from './model/sites.ts'
import { stateCommands } from './model/states.ts'
import { type Asking, type AskingOfSerial, type Command, newWorld, type World } from './model/world.ts'

// Compares the whole API with a model in memory: after any calls in any order, every response must equal the model's.
// fast-check reduces a failure to the commands that matter and prints how to repeat it.

const runs = atScale(6, 200)
const maxCommands = 250
/** Each worker has its own seed and its own share of the runs; all workers call one service. */
const workers = 8
const timeLimitMs = 240_000
/**
 * The seed is also in the test's name, because the summary of a failure may be the only part of the output that is
 * kept.
 */
const seed = Number(process.env.FORECOURT_SEED ?? randomInt(2 ** 30))

const service = await startService()
const client = new Client(service)
afterAll(() => service.stop())

const app = fc.nat(2)
const how: fc.Arbitrary<Asking['how']> = fc.oneof(
  { weight: 8, arbitrary: fc.constant('own' as const) },
  { weight: 4, arbitrary: fc.constant('named' as const) },
  { weight: 4, arbitrary: fc.constant('operator' as const) },
  { weight: 1, arbitrary: fc.constant('stranger' as const) },
)
const asking: fc.Arbitrary<Asking> = fc.record({ app, how })
const isHolder = fc.constantFrom(true, true, true, true, false)
const ofSerial: fc.Arbitrary<AskingOfSerial> = fc.record({ app, how, isHolder, serial })

const anyCommand = fc.oneof(
  ...createCommands(asking),
  ...deviceCommands(ofSerial),
  ...stateCommands(ofSerial, asking),
  ...ownershipCommands(ofSerial, asking),
  ...devicePageCommands(asking),
  ...feedCommands(asking),
  ...applicationCommands(),
  ...billingRuleCommands(asking, key),
  ...siteCommands(asking, key),
)

/** Reads every record once more, at the end of a run. */
async function readEverything(world: World, client: Client): Promise<void> {
  for (const [app, application] of world.apps.entries()) {
    await readApplication(client, application)
    await followFeed(world, client, { app, how: 'operator' }, 100)
    await readPages(world, client, { app, how: 'own' }, { by: 'cursor', pageSize: 2 })
    await readAllRecords(world, client, { app, how: 'own' })
  }
  for (const deviceNo of world.serials) await readHistory(world, client, 'anyone', deviceNo)
}

/**
 * The number of the first worker that failed. The other workers stop, so that it can search for the smallest failure
 * undisturbed.
 */
let failing: number | undefined

function property(worker: number, replayPath: string | undefined) {
  const commands = fc.commands([anyCommand], { maxCommands, size: 'max', ...(replayPath ? { replayPath } : {}) })
  return fc.asyncProperty(commands, async (some) => {
    if (failing !== undefined && failing !== worker) return
    const world = await newWorld(client, 3, 5)
    try {
      await fc.asyncModelRun(() => ({ model: world, real: client }), some)
      await readEverything(world, client)
    } catch (error) {
      failing ??= worker
      if (failing === worker) throw error
    }
  })
}

type Details = fc.RunDetails<[Iterable<Command>]>

async function report(details: Details): Promise<string> {
  const replayPath = /replayPath="([^"]*)"/.exec(String(details.counterexample?.[0]))?.[1]
  const path = `${details.counterexamplePath} ${replayPath} ${failing}`
  const again = `FORECOURT_SEED=${details.seed} FORECOURT_PATH='${path}' npx bun test test/model.test.ts`
  const { message } = details.errorInstance as Error
  return `${message}\n\n${await fc.asyncDefaultReportMessage(details)}\n\nTo run it again: ${again}`
}

function check(worker: number, seed: number, numRuns: number, again: { path?: string; replayPath?: string } = {}) {
  return fc.check(property(worker, again.replayPath), {
    seed,
    numRuns,
    ...(again.path === undefined ? {} : { path: again.path }),
    plugins: [fc.interruptAfterTimeLimit(timeLimitMs, { failOnInterrupt: true }) as fc.Plugin<[Iterable<Command>]>],
  })
}

/** Parses what a failure printed: the seed, the path, which commands were run, and the worker. */
function readReplay() {
  const { FORECOURT_SEED: seed, FORECOURT_PATH: written } = process.env
  if (seed === undefined || written === undefined) return undefined
  const [path = '', replayPath = '', worker] = written.split(' ')
  return { seed: Number(seed), path, replayPath, worker: Number(worker) }
}

test(
  `${runs} runs of up to ${maxCommands} commands each get the model's answers (FORECOURT_SEED=${seed})`,
  async () => {
    const replay = readReplay()
    const share = Math.ceil(runs / workers)
    const all = replay
      ? [await check(replay.worker, replay.seed, 1, replay)]
      : await Promise.all(Array.from({ length: workers }, (_, worker) => check(worker, seed + worker, share)))
    for (const details of all.filter(({ failed }) => failed)) expect.unreachable(await report(details))
  },
  timeLimitMs + 60_000,
)

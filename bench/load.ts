import { join } from 'node:path'
import type { EventType } from '../src/vocabulary/event-types.ts'
import { deviceBody } from '../test/kit/records.ts'
import { newRunMark, type SerialOrder, serialPlaceholder } from './serials.ts'
import type { Server } from './servers.ts'

export interface LoadOptions {
  connections: number
  seconds: number
  serials: SerialOrder
}

export interface LoadResult {
  requests: number
  seconds: number
  p50Ms: number
  p99Ms: number
  /** Processor time of the load generator itself, in microseconds. */
  cpu: number
}

/**
 * The time after which wrk gives up waiting for a response; the slowest of the baseline take a good part of a second.
 */
const answerTimeoutSeconds = 10

export function requireWrk(): void {
  if (Bun.which('wrk') === null) {
    throw new Error('The load is made by wrk, which is not installed: run "apt-get install wrk".')
  }
}

/** Describes the requests of a load. */
export interface Work {
  /** The script of this folder that sends the requests, and its arguments, apart from the token and the run's mark. */
  script: string
  env: Record<string, string>
  url: string
  /** The type of event that such a request writes, and how many of a hundred requests write one. */
  event: EventType
  eventPercent: number
}

/** Creates: every request registers a device that no other one has. */
export function creates(server: Server, serials: SerialOrder): Work {
  const body = JSON.stringify(deviceBody(server.appId, { deviceNo: serialPlaceholder }))
  return {
    script: 'create.lua',
    env: { BENCH_BODY: body, BENCH_PLACEHOLDER: serialPlaceholder, BENCH_SERIALS: serials },
    url: server.url,
    event: 'device.bound',
    eventPercent: 100,
  }
}

/** Sends requests to a server as fast as it takes them. A load with a single failed request is an error. */
export async function load(
  server: Server,
  { connections, seconds, serials }: LoadOptions,
  work = creates(server, serials),
): Promise<LoadResult> {
  const threads = Math.min(connections, 2)
  const wrk = Bun.spawn({
    cmd: [
      'wrk',
      `-t${threads}`,
      `-c${connections}`,
      `-d${seconds}s`,
      `--timeout=${answerTimeoutSeconds}s`,
      `--script=${join(import.meta.dirname, work.script)}`,
      work.url,
    ],
    env: { ...process.env, ...work.env, BENCH_TOKEN: server.token, BENCH_RUN: newRunMark() },
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: (seconds + 3 * answerTimeoutSeconds) * 1000,
  })
  const [output, complaint] = await Promise.all([wrk.stdout.text(), wrk.stderr.text(), wrk.exited])
  const line = /^RESULT (.+)$/m.exec(output)?.[1]
  if (line === undefined) throw new Error(`wrk gave no result for ${server.name}: ${complaint || output}`)
  const result = JSON.parse(line)
  if (result.status + result.broken > 0 || result.requests === 0) {
    throw new Error(
      `This is not a result: of ${result.requests} requests to ${server.name}, ${result.status} were refused and ` +
        `${result.broken} got no answer.`,
    )
  }
  return {
    requests: result.requests,
    seconds: result.microseconds / 1e6,
    p50Ms: result.p50 / 1000,
    p99Ms: result.p99 / 1000,
    cpu: Number(wrk.resourceUsage()?.cpuTime.total ?? 0),
  }
}

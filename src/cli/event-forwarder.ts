import { lookup } from 'node:dns/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { Event } from '#sdk/api'
import { ForecourtError } from '#sdk/error'
import { blocksOf, Reconnects } from '#sdk/event-stream'
import type { Forecourt } from '#sdk/forecourt'
import { callbackUrlFault, staysPrivate } from '../deliveries/callback-url.ts'
import { type CallbackClient, openCallbackClient } from '../deliveries/client.ts'
import { webhookIdOf } from '../deliveries/rules.ts'
import { composeRequest, newCallbackSecret, readCallbackSecret } from '../deliveries/sign.ts'
import { usageError } from '../runtime/user-error.ts'
import { callerOfOne } from './caller.ts'
import type { Context } from './context.ts'
import { untilInterrupted } from './interrupts.ts'
import type { ListenOptions } from './listen.ts'

const lookEveryMs = 500
/** After this the stream is tried again. */
const pollForMs = 60_000
const eventsPerLook = 100
/** The code with which a service that stops closes its streams. */
const unavailable = 50003
const firstPauseMs = 250
const longestPauseMs = 5_000
/** How long a callback under way may take after Ctrl-C. */
const endWithinMs = 2_000

export async function forwardEvents(options: ListenOptions, context: Context): Promise<void> {
  const { forward, after, types: type } = options
  const url = requireForward(forward, context)
  const { secret, isNew } = secretOf(options, context)
  const { client, appId } = callerOfOne(options, context)
  const signal = untilInterrupted()
  const startId = after ?? (await newestId(client, appId, signal))
  if (startId === undefined) return
  // The system's resolver knows the names of this machine's containers.
  const callbacks = openCallbackClient({
    privateCallbacks: 'allow',
    resolve: (hostname) => lookup(hostname, { all: true }),
  })
  const forwarder = new EventForwarder({ client, callbacks, context, signal, appId, url, secret, type, startId })
  if (isNew) {
    // With --json standard output holds one value, which comes at the end.
    const output = context.isJson ? context.stderr : context.stdout
    output.write(`Signing secret: ${secret}\n`)
  }
  context.remark(`Forwarding events of ${appId} after ${startId} to ${forward}. Press Ctrl-C to stop.`)
  try {
    await forwarder.run()
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    callbacks.close()
    const { posted, lastId } = forwarder
    const words = `${posted} ${posted === 1 ? 'event' : 'events'} forwarded. To continue from here: --after ${lastId}`
    context.result({ appId, forward, posted, lastId, secret: isNew ? secret : null }, words)
  }
}

/** Refuses an address to which events would travel over other networks in plain text. */
function requireForward(forward: string, context: Context): URL {
  const fault = callbackUrlFault(forward, 'allow')?.en.replace('https://', 'http:// or https://')
  if (fault !== undefined) throw usageError(`--forward ${fault}, but it is "${forward}"`)
  const url = new URL(forward)
  if (url.protocol === 'https:' || staysPrivate(url.hostname) || context.allowsHttp) return url
  throw usageError(
    `events, with names and phone numbers, would be sent to ${url.host} in plain text: use https://, or add --allow-http`,
  )
}

function secretOf(options: ListenOptions, context: Context): { secret: string; isNew: boolean } {
  const given = context.secret('--secret', options.secret, 'CALLBACK_SECRET')
  const secret = given === undefined ? newCallbackSecret() : readCallbackSecret(given)
  if (secret === undefined) throw usageError('--secret must be a callback secret: whsec_ followed by base64')
  return { secret, isNew: given === undefined }
}

async function newestId(client: Forecourt, appId: string, signal: AbortSignal): Promise<number | undefined> {
  try {
    const { list } = await client.pageEvents({ appId, order: 'desc', pageSize: 1 }, { signal })
    return list[0]?.id ?? 0
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

interface ForwarderParts {
  client: Forecourt
  callbacks: CallbackClient
  context: Context
  signal: AbortSignal
  appId: string
  url: URL
  secret: string
  type: string | undefined
  startId: number
}

class EventForwarder {
  posted = 0
  lastId: number
  private readonly parts: ForwarderParts
  private readonly reconnects = new Reconnects()

  constructor(parts: ForwarderParts) {
    this.parts = parts
    this.lastId = parts.startId
  }

  /** After an interrupt it returns, or throws the abort error. Throws the service's refusals. */
  async run(): Promise<void> {
    const { signal, callbacks } = this.parts
    signal.addEventListener('abort', () => setTimeout(() => callbacks.close(), endWithinMs).unref())
    while (!signal.aborted) {
      if (!(await this.follow())) await this.poll()
    }
  }

  /** Returns false if the service has no stream for it. */
  private async follow(): Promise<boolean> {
    const { client, appId, type, signal } = this.parts
    const query = { appId, type, afterId: this.lastId }
    const stream = await this.answered(() => client.streamEvents(query, { signal, retries: 0 }), true)
    if (stream === undefined) return false
    for await (const { event, data = '', retry } of blocksOf(stream)) {
      if (retry !== undefined) this.reconnects.heed(retry)
      // If the access has ended, the next request says why.
      if (event === 'closed' && JSON.parse(data).code !== unavailable) return true
      if (event !== undefined && event !== 'closed') await this.take(JSON.parse(data))
      if (signal.aborted) return true
    }
    await pause(this.reconnects.next(), undefined, { signal })
    this.reconnects.succeeded()
    return true
  }

  private async poll(): Promise<void> {
    const { client, appId, type, signal } = this.parts
    const until = performance.now() + pollForMs
    while (performance.now() < until) {
      const query = { appId, type, afterId: this.lastId, pageSize: eventsPerLook }
      const page = await this.answered(() => client.pageEvents(query, { signal }))
      for (const event of page?.list ?? []) {
        await this.take(event)
        if (signal.aborted) return
      }
      if ((page?.list.length ?? 0) < eventsPerLook) await pause(lookEveryMs, undefined, { signal })
    }
  }

  private async take(event: Event): Promise<void> {
    await this.post(event)
    this.lastId = event.id
    this.posted++
  }

  /** Repeats the request until the service responds. Undefined if it is optional and the service does not offer it. */
  private async answered<Answer>(ask: () => Promise<Answer>, isOptional = false): Promise<Answer | undefined> {
    const { context, signal } = this.parts
    for (let failures = 0; ; failures++) {
      try {
        const answer = await ask()
        if (failures > 0) context.remark('The service is available again.')
        return answer
      } catch (error) {
        if (isOptional && isNotOffered(error)) return undefined
        this.requirePassing(error, failures === 0)
        await pause(pauseMs(failures), undefined, { signal })
      }
    }
  }

  /** Throws an error that the same request may not overcome later; of the others the first is reported. */
  private requirePassing(error: unknown, isFirst: boolean): void {
    const { context, signal } = this.parts
    if (signal.aborted || !isPassing(error)) throw error
    if (!isFirst) return
    context.remark(`The service at ${context.url} is unavailable (${error.reason}). Retrying until it responds.`)
  }

  private async post(event: Event): Promise<void> {
    const { callbacks, context, appId, url, secret, signal } = this.parts
    const { id, type, occurredAt, data } = event
    const webhookId = webhookIdOf(type, id)
    const message = { webhookId, type, appId, time: new Date(occurredAt), data: JSON.stringify(data) }
    for (let failures = 0, told: string | undefined; ; failures++) {
      const result = await callbacks.send(composeRequest({ url, secrets: [secret] }, message))
      if (result === undefined) throw signal.reason
      const { error, responseStatus, durationMs, retryAfterMs } = result
      if (error === null) {
        this.tell(`${id}  ${type}  ${subjectOf(data)}  ${responseStatus} in ${durationMs} ms`)
        return
      }
      if (error !== told) {
        context.remark(
          `${webhookId} (${type}) was not accepted: ${error}. Retrying until ${url.host} responds with 2xx. To skip it, press Ctrl-C and run again with --after ${id}.`,
        )
        told = error
      }
      await pause(Math.max(pauseMs(failures), retryAfterMs ?? 0), undefined, { signal })
    }
  }

  /** Part of the result, except with --json, where the result is one value at the end. */
  private tell(line: string): void {
    const { context } = this.parts
    if (context.isJson) context.remark(line)
    else if (!context.isQuiet) context.stdout.write(`${line}\n`)
  }
}

/** The service has no such operation, or no place for another stream. */
function isNotOffered(error: unknown): boolean {
  if (!(error instanceof ForecourtError)) return false
  return error.code === 10007 || (error.status === 404 && error.name !== 'applicationNotFound')
}

/** The service is away, busy or starting. */
function isPassing(error: unknown): error is ForecourtError {
  return error instanceof ForecourtError && ([0, 408, 429].includes(error.status) || error.status >= 500)
}

function pauseMs(failures: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** failures)
}

function subjectOf(data: unknown): string {
  const { deviceNo, siteName, ruleName, id } = data as Record<string, unknown>
  return String(deviceNo ?? siteName ?? ruleName ?? id ?? '-')
}

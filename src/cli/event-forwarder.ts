import { lookup } from 'node:dns/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { Event } from '#sdk/api'
import { ForecourtError } from '#sdk/error'
import type { Forecourt } from '#sdk/forecourt'
import { callbackUrlFault, staysPrivate } from '../deliveries/callback-url.ts'
import { type CallbackClient, openCallbackClient } from '../deliveries/client.ts'
import { webhookIdOf } from '../deliveries/rules.ts'
import { composeRequest, newCallbackSecret, readCallbackSecret } from '../deliveries/sign.ts'
import { callerOfOne } from './caller.ts'
import type { Context } from './context.ts'
import { untilInterrupted } from './interrupts.ts'
import type { ListenOptions } from './listen.ts'
import { UsageError } from './usage-error.ts'

const lookEveryMs = 500
const eventsPerLook = 100
const firstPauseMs = 250
/** The longest pauses before the local program and the service are tried again. */
const longestPauseMs = 5_000
/** How long a callback under way may still take after Ctrl-C. */
const endWithinMs = 2_000

/** Posts an application's events to a local program until Ctrl-C, and prints where the next run can begin. */
export async function forwardEvents(options: ListenOptions, context: Context): Promise<void> {
  const { forward, after, types: type } = options
  const url = requireForward(forward, context)
  const { secret, isNew } = secretOf(options, context)
  const { client, appId } = callerOfOne(options, context)
  const signal = untilInterrupted()
  const startId = after ?? (await newestId(client, appId, signal))
  if (startId === undefined) return
  // Uses the system's resolver, because it knows the names of this machine's containers.
  const callbacks = openCallbackClient({
    privateCallbacks: 'allow',
    resolve: (hostname) => lookup(hostname, { all: true }),
  })
  const forwarder = new EventForwarder({ client, callbacks, context, signal, appId, url, secret, type, startId })
  if (isNew) {
    // With --json standard output holds one value, which comes at the end.
    const output = context.isJson ? context.stderr : context.stdout
    output.write(`The callbacks are signed with ${secret}\n`)
  }
  context.remark(`Events of ${appId} after ${startId} are posted to ${forward}. Ctrl-C ends it.`)
  try {
    await forwarder.run()
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    callbacks.close()
    const { posted, lastId } = forwarder
    const words = `${posted} ${posted === 1 ? 'event was' : 'events were'} posted. To continue from here: --after ${lastId}`
    context.result({ appId, forward, posted, lastId, secret: isNew ? secret : null }, words)
  }
}

/** The address to post to. Refuses one to which events would travel over other networks in plain text. */
function requireForward(forward: string, context: Context): URL {
  const fault = callbackUrlFault(forward, 'allow')?.en.replace('https://', 'http:// or https://')
  if (fault !== undefined) throw new UsageError(`--forward ${fault}, but it is "${forward}"`)
  const url = new URL(forward)
  if (url.protocol === 'https:' || staysPrivate(url.hostname) || context.allowsHttp) return url
  throw new UsageError(
    `events, with names and phone numbers, would be sent to ${url.host} in plain text: use https://, or add --allow-http`,
  )
}

function secretOf(options: ListenOptions, context: Context): { secret: string; isNew: boolean } {
  const given = context.secret('--secret', options.secret, 'CALLBACK_SECRET')
  const secret = given === undefined ? newCallbackSecret() : readCallbackSecret(given)
  if (secret === undefined) throw new UsageError('--secret must be whsec_ and base64, as a callback secret is shown')
  return { secret, isNew: given === undefined }
}

/** The id of the application's newest event; 0 if it has none, undefined if the command was interrupted. */
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

/** Posts the events after `lastId`, one by one. A failed post is repeated, and reported once. */
class EventForwarder {
  posted = 0
  /** The last event that the local program has taken. */
  lastId: number
  private readonly parts: ForwarderParts

  constructor(parts: ForwarderParts) {
    this.parts = parts
    this.lastId = parts.startId
  }

  /** Posts events until it is interrupted; then it returns, or throws the abort error. Throws the service's refusals. */
  async run(): Promise<void> {
    const { signal, callbacks } = this.parts
    signal.addEventListener('abort', () => setTimeout(() => callbacks.close(), endWithinMs).unref())
    while (!signal.aborted) {
      const events = await this.nextEvents()
      for (const event of events) {
        await this.post(event)
        this.lastId = event.id
        this.posted++
        if (signal.aborted) return
      }
      if (events.length < eventsPerLook) await pause(lookEveryMs, undefined, { signal })
    }
  }

  /** The next events of the feed; waits until the service responds. Throws the service's refusals. */
  private async nextEvents(): Promise<Event[]> {
    const { client, context, appId, type, signal } = this.parts
    for (let failures = 0; ; failures++) {
      try {
        const query = { appId, type, afterId: this.lastId, pageSize: eventsPerLook }
        const { list } = await client.pageEvents(query, { signal })
        if (failures > 0) context.remark('The service answers again.')
        return list
      } catch (error) {
        if (signal.aborted || !isPassing(error)) throw error
        if (failures === 0) {
          context.remark(
            `The service at ${context.url} is not available (${error.reason}). The request is repeated until it answers.`,
          )
        }
        await pause(pauseMs(failures), undefined, { signal })
      }
    }
  }

  /** Posts an event until the local program takes it. */
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
          `${webhookId} (${type}) is not accepted: ${error}. It is posted again until ${url.host} answers 2xx; to skip it: Ctrl-C, and --after ${id}.`,
        )
        told = error
      }
      await pause(Math.max(pauseMs(failures), retryAfterMs ?? 0), undefined, { signal })
    }
  }

  /**
   * Prints a line about an event. It is part of the outcome, except with --json, where the outcome is one value at the
   * end.
   */
  private tell(line: string): void {
    const { context } = this.parts
    if (context.isJson) context.remark(line)
    else if (!context.isQuiet) context.stdout.write(`${line}\n`)
  }
}

/** Whether the same request may succeed later: the service is away, busy or starting. */
function isPassing(error: unknown): error is ForecourtError {
  return error instanceof ForecourtError && ([0, 408, 429].includes(error.status) || error.status >= 500)
}

function pauseMs(failures: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** failures)
}

/** What an event is about, for people: a serial number, or the id or name of its record. */
function subjectOf(data: unknown): string {
  const { deviceNo, siteName, ruleName, id } = data as Record<string, unknown>
  return String(deviceNo ?? siteName ?? ruleName ?? id ?? '-')
}

import { expect } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type Answer, target } from '../kit/client.ts'
import { deviceBody, newApplication, shownSecret, siteBody, type TestApplication } from '../kit/records.ts'
import { contractRefusals, type RefusalName } from './refusals.ts'

export const client = await target()

/** Words of the implementation. Contract §1: no response contains them. */
const innerWords =
  /postgres|sqlstate|duplicate key|violates|constraint|relation "|syntax error|unterminated|unexpected token|node_modules|\.[tj]s:\d|\bat \w+ \(|(Type|Syntax|Range)Error/i

interface RefusalOptions {
  status?: number
  /** Members that a standard adds to the envelope, as OAuth does in responses of the token operations. */
  beside?: string[]
}

/**
 * Expects a refusal in the form of contract §1: its status, its code, exactly the envelope, and no word of the
 * implementation.
 */
export function expectRefusal(answer: Answer<unknown>, refusal: RefusalName, options: RefusalOptions = {}): void {
  const { code, status } = { ...contractRefusals[refusal], ...options }
  expect(`${answer.status} ${answer.text}`).toStartWith(`${status} {"code":${code},"msg":"`)
  expect(Object.keys(JSON.parse(answer.text)).sort()).toEqual(['code', 'data', 'msg', ...(options.beside ?? [])].sort())
  expect(answer.msg.trim()).not.toBe('')
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/)
  expect(answer.headers.get('x-request-id')).toMatch(/^\S+$/)
  expect(answer.text).not.toMatch(innerWords)
  if (answer.data !== null) expect(Object.keys(answer.data as object)).toEqual(['errors'])
}

/** Expects a refusal that names exactly these fields, in any order. Returns the reasons by field. */
export function expectFaults(
  answer: Answer<unknown>,
  fields: string[],
  refusal: RefusalName = 'invalidRequest',
  options: RefusalOptions = {},
): Record<string, string> {
  expectRefusal(answer, refusal, options)
  const { errors } = answer.data as { errors: Record<string, unknown>[] }
  expect(errors.map(({ field }) => field).sort()).toEqual(fields.toSorted())
  for (const error of errors) {
    expect(Object.keys(error).sort()).toEqual(['field', 'reason'])
    expect(String(error.reason).trim()).not.toBe('')
  }
  return Object.fromEntries(errors.map(({ field, reason }) => [String(field), String(reason)]))
}

/** Expects the success envelope of the customer's document (§2.1) and returns its data. */
export function expectSuccess<Data>(answer: Answer<Data>): Data {
  expect(`${answer.status} ${answer.text}`).toStartWith('200 {"code":0,"msg":"success","data":')
  expect(Object.keys(JSON.parse(answer.text))).toEqual(['code', 'msg', 'data'])
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/)
  expect(answer.headers.get('x-request-id')).toMatch(/^\S+$/)
  return answer.data
}

export function createDeviceOf({ appId, token }: TestApplication, members: Record<string, unknown> = {}) {
  return client.call('createDevice', deviceBody(appId, members), { token })
}

export function saveSiteOf({ appId, token }: TestApplication, members: Record<string, unknown> = {}) {
  return client.call('saveSite', siteBody(appId, members), { token })
}

/** An application without third-party configuration. */
export function newBareApplication(members: Record<string, unknown> = {}): Promise<TestApplication> {
  return newApplication(client, { thirdPartyConfig: null, ...members })
}

/** An application for which no token was issued. */
export async function newIdleApplication(members: Record<string, unknown> = {}) {
  const made = expectSuccess(await client.operate('createApplication', { appName: 'idle', ...members }))
  return { ...made, appSecret: shownSecret(made.appSecret) }
}

export const onePeriod = [{ startTime: '00:00:00', electricityPrice: '0.65', servicePrice: '0.8' }]
export const occupancyTerms = { freeMinutes: 15, unitMinutes: 30, unitPrice: '1.50' }

/** Creates a billing rule of a type and returns its id. */
export async function newRule({ appId, token }: TestApplication, ruleType: 1 | 2 | 3): Promise<number> {
  const terms = ruleType === 3 ? occupancyTerms : { periods: onePeriod }
  const saved = await client.call('saveBillingRule', { appId, ruleName: 'rule', ruleType, ...terms }, { token })
  return expectSuccess(saved).id
}

/** The value of the members that `withRaw` replaces. */
export const raw = '@@raw@@'

/** The body's JSON text with `written` in place of `raw`, for values that JSON.stringify cannot write. */
export function withRaw(body: unknown, written: string): string {
  const parts = JSON.stringify(body).split(JSON.stringify(raw))
  if (parts.length === 1) throw new Error('the body must hold the value `raw`')
  return parts.join(written)
}

export const jsonHeaders = { 'content-type': 'application/json' }

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, ...jsonHeaders }
}

/** Posts bytes or text unchanged. */
export function post(path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) {
  return client.send<unknown>(path, { method: 'POST', headers, body })
}

/** One character: two UTF-16 units, four bytes in UTF-8. */
export const astral = '𠮷'

/** A date and time as the service shows it: yyyy-MM-dd HH:mm:ss in its time zone. */
export function shownMoment(instant: Date, timeZone = process.env.FORECOURT_TIME_ZONE ?? 'Asia/Shanghai'): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(instant)
}

/** Expects a time in the documented format, at most a minute away from this machine's clock. */
export function expectNow(moment: string, timeZone?: string): void {
  expect(moment).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  expect(moment >= shownMoment(new Date(Date.now() - 60_000), timeZone)).toBe(true)
  expect(moment <= shownMoment(new Date(Date.now() + 60_000), timeZone)).toBe(true)
}

/** Repeats a request until its response has this code, and fails after the one second that the contract allows. */
export async function withinOneSecond(ask: () => Promise<Answer<unknown>>, code: number): Promise<Answer<unknown>> {
  const deadline = performance.now() + 1000
  for (;;) {
    const sentAt = performance.now()
    const answer = await ask()
    if (answer.code === code || sentAt > deadline) {
      expect(answer.code).toBe(code)
      return answer
    }
    await Bun.sleep(20)
  }
}

/** A connection on which a test writes a request's bytes itself. */
export class RawConnection {
  private readonly socket: Socket
  private received = Buffer.alloc(0)
  private ended = false
  private wake: () => void = () => {}

  constructor() {
    const { protocol, hostname, port } = new URL(client.url)
    const host = hostname.replace(/^\[|\]$/g, '')
    this.socket =
      protocol === 'https:'
        ? connectTls({ host, port: Number(port || 443), servername: host })
        : connect({ host, port: Number(port || 80) })
    this.socket.on('data', (piece: Buffer) => {
      this.received = Buffer.concat([this.received, piece])
      this.wake()
    })
    // The server may reset the connection after a refusal; what was received before still counts.
    this.socket.on('error', () => {})
    this.socket.on('close', () => {
      this.ended = true
      this.wake()
    })
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(bytes)
  }

  /** Writes the head of a POST; the caller writes the body. */
  writeHead(path: string, headers: Record<string, string>): void {
    const lines = Object.entries({ host: new URL(client.url).host, ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    )
    this.write(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  }

  /** Reads one response. */
  async answer(): Promise<Answer<unknown>> {
    for (;;) {
      const answer = readAnswer(this.received)
      if (answer !== undefined) return answer
      if (this.ended) throw new Error(`the connection ended after ${JSON.stringify(this.received.toString())}`)
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }

  /** Drops the received bytes, so that the connection's next response can be read. */
  forget(): void {
    this.received = Buffer.alloc(0)
  }

  close(): void {
    this.socket.destroy()
  }
}

function readAnswer(received: Buffer): Answer<unknown> | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [statusLine = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n')
  const headers = new Headers(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const length = Number(headers.get('content-length') ?? Number.NaN)
  if (Number.isNaN(length)) throw new Error(`an answer without content-length: ${received.toString()}`)
  const body = received.subarray(end + 4, end + 4 + length)
  if (body.byteLength < length) return undefined
  const text = body.toString()
  return { status: Number(statusLine.split(' ')[1]), headers, text, ...JSON.parse(text) }
}

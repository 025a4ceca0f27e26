import { expect } from 'bun:test'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { type Answer, type CallOptions, target } from '../kit/client.ts'
import type { DataOf, OperationId } from '../kit/contracts.ts'
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

/** Calls an operation, as an operator unless another caller is given, expects success and returns the data. */
export async function succeed<Called extends OperationId | Operation>(
  called: Called,
  input: unknown,
  as: CallOptions = { token: client.operatorKey },
): Promise<DataOf<Called>> {
  return expectSuccess(await client.call(called, input, as))
}

export function createDeviceOf({ appId, token }: TestApplication, members: Record<string, unknown> = {}) {
  return client.call('createDevice', deviceBody(appId, members), { token })
}

export function saveSiteOf({ appId, token }: TestApplication, members: Record<string, unknown> = {}) {
  return client.call('saveSite', siteBody(appId, members), { token })
}

export async function newDevice(app: TestApplication, members: Record<string, unknown> = {}): Promise<string> {
  return expectSuccess(await createDeviceOf(app, members)).deviceNo
}

export async function newSite(app: TestApplication, members: Record<string, unknown> = {}): Promise<number> {
  return expectSuccess(await saveSiteOf(app, members)).id
}

/** The rows of batches and files, which do not name their application. */
export function deviceRow(members: Record<string, unknown> = {}) {
  const { appId: _, ...row } = deviceBody('', members)
  return row
}

export function siteRow(members: Record<string, unknown> = {}) {
  const { appId: _, ...row } = siteBody('', members)
  return row
}

/** The events in an application's feed, oldest first. */
export const feedOf = async (app: CallOptions, query: object = {}) =>
  (await succeed('pageEvents', { pageSize: 100, ...query }, app)).list

export const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type)

/** Every row of a list, by cursor. */
export async function walk<Row>(
  ask: (page: { cursor: string }) => Promise<{ list: Row[]; nextCursor: string | null }>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Awaited<ReturnType<typeof ask>> = await ask({ cursor })
    rows.push(...page.list)
    cursor = page.nextCursor
  }
  return rows
}

/** The rows of NDJSON. */
export function linesOf<Row = Record<string, unknown>>(text: string): Row[] {
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}

/** An export's text. */
export async function exported(as: CallOptions, kind: string, format: string, filters: object = {}): Promise<string> {
  const { status, text } = await client.call('createExport', { kind, format, ...filters }, as)
  expect(status, text).toBe(200)
  return text
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

/** What OAuth adds to the envelope in refusals of the token operations. */
export const oauthMembers = { beside: ['error', 'error_description'] }

/** Expects a refusal of a token operation that names these fields and has this error of RFC 6749. */
export function expectOAuthFaults(answer: Answer<unknown>, fields: string[], error: string, status = 400): void {
  expectFaults(answer, fields, 'invalidRequest', { status, ...oauthMembers })
  expect(JSON.parse(answer.text).error).toBe(error)
}

/** Sends an invalid body: code 10001 means that the token was accepted, and nothing is created. */
export const tryToken = (token: string) => client.call('createDevice', {}, { token })
const tokenWorks = 10001

export async function expectWorking(...tokens: string[]): Promise<void> {
  for (const token of tokens) expect((await tryToken(token)).code).toBe(tokenWorks)
}

/** Expects that these tokens end within the one second that the contract allows. */
export async function expectEnded(...tokens: string[]): Promise<void> {
  for (const token of tokens) expectRefusal(await withinOneSecond(() => tryToken(token), 10002), 'tokenInvalid')
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

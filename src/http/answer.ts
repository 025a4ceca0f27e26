import { type FieldFault, type Reason, type Refusal, refusals } from '../vocabulary/refusals.ts'
import { compressed, encodedTagOf, leastCompressed, preferredEncoding } from './encoding.ts'
import { type HttpAnswer, type HttpRequest, isLive, isStreamed, type Live, type Streamed } from './message.ts'

/** Data that is JSON text, because the write path has serialized it once. */
export class JsonText {
  readonly text: string
  readonly headers: Record<string, string> | undefined
  readonly cookies: string[] | undefined
  constructor(text: string, headers?: Record<string, string>, cookies?: string[]) {
    this.text = text
    this.headers = headers
    this.cookies = cookies
  }
}

/** A response without the success envelope: token operations, probes and metrics. */
export class Reply {
  readonly answer: HttpAnswer
  constructor(answer: HttpAnswer) {
    this.answer = answer
  }
}

export function fileReply(body: Streamed | string, mediaType: string, fileName: string): Reply {
  const headers = { 'content-type': mediaType, 'content-disposition': `attachment; filename="${fileName}"` }
  return new Reply({ status: 200, headers, body })
}

export class Replayed {
  readonly outcome: unknown
  constructor(outcome: unknown) {
    this.outcome = outcome
  }
}

export function render(outcome: unknown): HttpAnswer {
  if (outcome instanceof Reply) return outcome.answer
  if (outcome instanceof Replayed) {
    const answer = render(outcome.outcome)
    answer.headers['idempotency-replayed'] = 'true'
    return answer
  }
  const isText = outcome instanceof JsonText
  const data = isText ? outcome.text : JSON.stringify(outcome)
  return {
    status: 200,
    headers: { 'content-type': 'application/json', ...(isText ? outcome.headers : undefined) },
    body: `{"code":0,"msg":"success","data":${data}}`,
    ...(isText && outcome.cookies !== undefined ? { cookies: outcome.cookies } : undefined),
  }
}

/** `members` are added to those of the envelope. */
export function renderRefusal(
  refusal: Refusal,
  language: keyof Reason,
  members: Record<string, unknown> = {},
): HttpAnswer {
  const kind = refusals[refusal.refusal]
  const errors = refusal.errors?.map((fault: FieldFault) => ({ field: fault.field, reason: fault.reason[language] }))
  const body = {
    code: kind.code,
    msg: kind[language],
    data: errors === undefined ? null : { errors },
    ...members,
  }
  return {
    status: refusal.status,
    headers: { 'content-type': 'application/json', ...refusal.headers },
    body: JSON.stringify(body),
  }
}

/** Worth compressing: large, not compressed, and not `no-transform`. */
export function isLarge({ body, headers }: HttpAnswer): boolean {
  // A UTF-16 unit takes at most three bytes, so most responses are known to be short without being counted.
  if (headers['content-encoding'] !== undefined || headers['cache-control']?.includes('no-transform')) return false
  if (isLive(body)) return false
  if (isStreamed(body)) return true
  if (body.length * 3 < leastCompressed) return false
  return Buffer.byteLength(body) >= leastCompressed
}

export async function compress(answer: HttpAnswer, request: HttpRequest): Promise<HttpAnswer> {
  answer.headers.vary = 'accept-encoding'
  const encoding = preferredEncoding(request.header('accept-encoding'))
  if (encoding === undefined) return answer
  answer.body = await compressed(answer.body as Exclude<HttpAnswer['body'], Live>, encoding)
  answer.headers['content-encoding'] = encoding
  const { etag } = answer.headers
  if (etag !== undefined) answer.headers.etag = encodedTagOf(etag, encoding)
  return answer
}

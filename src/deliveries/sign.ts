import { createHmac, randomBytes } from 'node:crypto'
import type { CallbackRequest } from './client.ts'

export interface Callback {
  url: URL
  /** `whsec_…`, newest first; for a day after a rotation also the previous one. */
  secrets: string[]
}

export interface Message {
  /** The same in all attempts, so that the receiver can drop duplicates. */
  webhookId: string
  type: string
  appId: string
  time: Date
  /** JSON text, put into the body as it is. */
  data: string
}

/** Standard Webhooks 1.0. */
export function composeRequest({ url, secrets }: Callback, message: Message): CallbackRequest {
  const { webhookId, type, appId, time, data } = message
  const body = `{"type":"${type}","timestamp":"${time.toISOString()}","appId":${JSON.stringify(appId)},"data":${data}}`
  const timestamp = String(Math.floor(Date.now() / 1000))
  return {
    appId,
    url,
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Forecourt',
      'webhook-id': webhookId,
      'webhook-timestamp': timestamp,
      'webhook-signature': secrets.map((secret) => sign(secret, `${webhookId}.${timestamp}.${body}`)).join(' '),
    },
  }
}

const secretPrefix = 'whsec_'

export function newCallbackSecret(): string {
  return `${secretPrefix}${randomBytes(32).toString('base64')}`
}

/** Given with or without its prefix; undefined if it is not base64. */
export function readCallbackSecret(given: string): string | undefined {
  const base64 = given.replace(secretPrefix, '')
  return /^[A-Za-z0-9+/]{2,}={0,2}$/.test(base64) ? secretPrefix + base64 : undefined
}

function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

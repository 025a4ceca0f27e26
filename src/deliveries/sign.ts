import { createHmac } from 'node:crypto'
import type { CallbackRequest } from './client.ts'

/** An application's callback URL, and the secrets that sign its requests. */
export interface Callback {
  url: URL
  /** `whsec_…`, the newest first; for a day after a rotation also the previous one. */
  secrets: string[]
}

export interface Message {
  /** The same in all attempts of a delivery, so that the receiver can drop duplicates. */
  webhookId: string
  type: string
  appId: string
  time: Date
  /** JSON text, put into the body as it is. */
  data: string
}

/** The request of one attempt (Standard Webhooks 1.0), signed now. */
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

function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

import { eventTypes } from '../events/contract.ts'

const webhookHeader = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
})

/** What an application's callback is sent (contract §6; Standard Webhooks 1.0). */
export const eventWebhook = {
  summary: 'An event of the application, sent to the callback of its third-party configuration.',
  description:
    'A 2xx within 15 s is success. 410 stops the callback. Anything else is tried again, 10 attempts over about 3 days.',
  parameters: [
    webhookHeader('webhook-id', 'the same at every attempt: drop what you have seen'),
    webhookHeader('webhook-timestamp', 'seconds since 1970 of this attempt'),
    webhookHeader('webhook-signature', 'v1, and the HMAC-SHA256 in base64; several during a rotation, a space between'),
  ],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['type', 'timestamp', 'appId', 'data'],
          properties: {
            type: { enum: eventTypes },
            timestamp: { type: 'string', format: 'date-time' },
            appId: { type: 'string' },
            data: { type: 'object', description: 'the record as its operation answers it' },
          },
        },
      },
    },
  },
  responses: { '2XX': { description: 'received' } },
}

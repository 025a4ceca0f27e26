import Type, { type Static } from 'typebox'
import { operation } from '../../vocabulary/operation.ts'
import { appId, callbacksSwitch, described, moment, named, nullable, textOneOf } from '../../vocabulary/values.ts'
import { Missed } from '../contract.ts'

/** An application's health is computed from this many of its newest deliveries, and as many pending and failed ones. */
export const mostLookedAt = 5_000
export const mostFailures = 20

/** The words of a delivery's `error` may change; these codes do not. */
const attemptErrors = [
  'httpStatus',
  'nameNotFound',
  'nameServerSilent',
  'privateAddress',
  'timeout',
  'refused',
  'closed',
  'unreachable',
  'tls',
  'url',
  'secret',
  'eventGone',
  'other',
] as const
export type AttemptError = (typeof attemptErrors)[number]

const byText: [RegExp, AttemptError][] = [
  [/^answered \d/, 'httpStatus'],
  [/^the name was not found/, 'nameNotFound'],
  [/^the name server did not answer/, 'nameServerSilent'],
  [/^the address is private/, 'privateAddress'],
  [/^no answer in time|\((ETIMEDOUT|ESOCKETTIMEDOUT|UND_ERR_\w*TIMEOUT)\)/, 'timeout'],
  [/\((ECONNREFUSED|ConnectionRefused)\)/, 'refused'],
  [/^the connection was closed|\((ECONNRESET|EPIPE|ECONNABORTED|ConnectionClosed|HPE_\w+)\)/, 'closed'],
  [/\((EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|FailedToOpenSocket)\)/, 'unreachable'],
  [/\((ERR_TLS\w*|ERR_SSL\w*|EPROTO|\w*CERT\w*|\w*ISSUER\w*|UNABLE_TO\w*)\)/, 'tls'],
  [/^the URL /, 'url'],
  [/^the callback secret/, 'secret'],
  [/^the event is/, 'eventGone'],
]

export function attemptErrorOf(error: string): AttemptError {
  return byText.find(([pattern]) => pattern.test(error))?.[1] ?? 'other'
}

const AttemptErrorCode = named(
  'AttemptError',
  textOneOf(
    attemptErrors,
    'Why attempts failed: a response other than 2xx; a host name not found or not resolved in time; a private address; a timeout; a connection that was refused, closed, unroutable or without a valid certificate; a URL that is no longer allowed; a secret that can’t be decrypted; an event that is no longer stored; or another reason.',
  ),
)

const CallbackState = named(
  'CallbackState',
  textOneOf(
    ['off', 'delivering', 'failing', 'held', 'stopped', 'paused'],
    'off: no callback URL. delivering: the latest attempt succeeded, or none was needed. failing: the latest attempts failed. held: the endpoint is paused until `heldUntil`. stopped: the endpoint is disabled, because it responded with 410. paused: all callbacks of the service are paused.',
  ),
)

const count = Type.Integer()

const Attempts = named(
  'AttemptCounts',
  Type.Object({
    attempts: Type.Integer({
      description:
        'number of attempts for deliveries started in this period, including attempts before a replay, without tests',
    }),
    failed: Type.Integer({ description: 'number of failed attempts' }),
  }),
)

const Failure = named(
  'CallbackFailure',
  Type.Object({
    error: AttemptErrorCode,
    reason: Type.String({ description: 'the `error` of these deliveries, in words' }),
    responseStatus: nullable(Type.Integer({ description: 'the HTTP status of the latest attempt; null without one' })),
    waiting: Type.Integer({ description: 'number of pending deliveries' }),
    dead: Type.Integer({ description: 'number of failed deliveries' }),
    timeFrom: described(moment, 'The time of the oldest event of these deliveries.'),
    timeTo: described(moment, 'The time of the latest event of these deliveries.'),
  }),
)

export const CallbackHealth = named(
  'CallbackHealth',
  Type.Object({
    appId: Type.String(),
    state: CallbackState,
    callbacks: callbacksSwitch,
    heldUntil: nullable(
      Type.String({ description: 'until when nothing is sent to the endpoint, because attempts have failed' }),
    ),
    failingSince: nullable(
      Type.String({ description: 'since when all attempts have failed; null if the latest one didn’t' }),
    ),
    failingReason: nullable(Type.String({ description: 'why the latest attempt failed' })),
    lastSuccessTime: nullable(Type.String({ description: `last success among the ${mostLookedAt} latest deliveries` })),
    hasSucceeded: Type.Boolean({
      description:
        'false: no delivery has succeeded since the first configuration, so the receiver may not be set up yet. Also true if older deliveries are no longer stored.',
    }),
    lastHour: described(Attempts, 'Attempts for deliveries of the last hour.'),
    lastDay: described(Attempts, 'Attempts for deliveries of the last 24 hours.'),
    countedFrom: nullable(
      Type.String({
        description: `\`lastHour\` and \`lastDay\` count only deliveries started since this time; null if the last day has fewer than ${mostLookedAt} deliveries`,
      }),
    ),
    waitingEvents: Type.Integer({
      description: 'number of queued events (without a delivery yet), counted up to 10000',
    }),
    ...Missed,
    waitingRetries: Type.Integer({
      description: `number of pending deliveries, counted up to ${mostLookedAt}`,
    }),
    waitingSince: nullable(Type.String({ description: 'time of the oldest queued or pending event' })),
    dead: { ...count, description: `number of failed deliveries, without tests, counted up to ${mostLookedAt}` },
    failures: Type.Array(Failure, {
      description: `pending and failed deliveries by reason, most frequent first, up to ${mostFailures} reasons`,
    }),
  }),
)
export type CallbackHealth = Static<typeof CallbackHealth>

export const getCallbackHealth = operation({
  id: 'getCallbackHealth',
  group: 'deliveries',
  summary:
    'Returns the health of an application’s callback endpoint: status, share of failed attempts, backlog and failure reasons.',
  method: 'GET',
  path: '/api/platform/v1/delivery/health',
  callers: ['application', 'operator'],
  query: Type.Object({ appId }),
  data: CallbackHealth,
  refusals: ['applicationNotFound'],
})

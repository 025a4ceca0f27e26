import Type, { type Static } from 'typebox'
import { operation } from '../../vocabulary/operation.ts'
import { appId, callbacksSwitch, described, moment, named, nullable, textOneOf } from '../../vocabulary/values.ts'
import { Missed } from '../contract.ts'

/**
 * An application's health is computed from this many of its newest deliveries, and from as many waiting and dead ones.
 */
export const mostLookedAt = 5_000
/** How many kinds of failure are listed: those with the most deliveries. */
export const mostFailures = 20

/** Codes for why an attempt failed. The words of a delivery's `error` may change; these do not. */
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

/** The code of the `error` of a delivery or an attempt. */
export function attemptErrorOf(error: string): AttemptError {
  return byText.find(([pattern]) => pattern.test(error))?.[1] ?? 'other'
}

const AttemptErrorCode = named(
  'AttemptError',
  textOneOf(
    attemptErrors,
    'Why attempts failed: an answer other than 2xx, a host name that is unknown or not looked up in time, a private address, no answer in time, a connection that was refused, closed, has no route or no valid certificate, a URL that is no longer allowed, a secret that cannot be opened, an event that is no longer kept, or anything else.',
  ),
)

const CallbackState = named(
  'CallbackState',
  textOneOf(
    ['off', 'delivering', 'failing', 'held', 'stopped', 'paused'],
    'off: no callback URL. delivering: the newest attempt was taken, or none was needed. failing: the newest attempts failed. held: nothing is sent until `heldUntil`. stopped: the receiver answered 410. paused: the service sends no callbacks.',
  ),
)

const count = Type.Integer()

const Attempts = named(
  'AttemptCounts',
  Type.Object({
    attempts: Type.Integer({
      description:
        'how many attempts were made for the deliveries that were begun in this time, also before these were sent again; tests do not count',
    }),
    failed: Type.Integer({ description: 'how many of these attempts failed' }),
  }),
)

const Failure = named(
  'CallbackFailure',
  Type.Object({
    error: AttemptErrorCode,
    reason: Type.String({ description: 'the `error` of these deliveries, in words' }),
    responseStatus: nullable(Type.Integer({ description: 'the HTTP status of the newest attempt; null without one' })),
    waiting: Type.Integer({ description: 'how many of these deliveries wait for another attempt' }),
    dead: Type.Integer({ description: 'how many of these deliveries are dead' }),
    timeFrom: described(moment, 'The time of the oldest event of these deliveries.'),
    timeTo: described(moment, 'The time of the newest event of these deliveries.'),
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
    failingSince: nullable(Type.String({ description: 'since when every attempt has failed; null while none has' })),
    failingReason: nullable(Type.String({ description: 'why the newest attempt failed' })),
    lastSuccessTime: nullable(
      Type.String({ description: `when the receiver last took one of the ${mostLookedAt} newest deliveries` }),
    ),
    hasSucceeded: Type.Boolean({
      description:
        'false: the receiver has not taken any delivery since the first configuration, so it may not be set up yet. True also where older deliveries are no longer kept.',
    }),
    lastHour: described(Attempts, 'The attempts of the last hour’s deliveries.'),
    lastDay: described(Attempts, 'The attempts of the last 24 hours’ deliveries.'),
    countedFrom: nullable(
      Type.String({
        description: `\`lastHour\` and \`lastDay\` count only the deliveries begun since this time; null if the last day has fewer than ${mostLookedAt} deliveries`,
      }),
    ),
    waitingEvents: Type.Integer({
      description: 'how many events wait and have no delivery yet, counted up to 10000',
    }),
    ...Missed,
    waitingRetries: Type.Integer({
      description: `how many deliveries wait for another attempt, counted up to ${mostLookedAt}`,
    }),
    waitingSince: nullable(Type.String({ description: 'the time of the oldest event that waits' })),
    dead: { ...count, description: `how many deliveries of events are dead, counted up to ${mostLookedAt}` },
    failures: Type.Array(Failure, {
      description: `the waiting and dead deliveries that have failed, by the cause of the failure, the most frequent first: ${mostFailures} kinds at most`,
    }),
  }),
)
export type CallbackHealth = Static<typeof CallbackHealth>

export const getCallbackHealth = operation({
  id: 'getCallbackHealth',
  group: 'deliveries',
  summary:
    'Answers the health of an application’s callback: its state, the share of attempts that failed, what waits, and the causes of failed deliveries.',
  method: 'GET',
  path: '/api/platform/v1/delivery/health',
  callers: ['application', 'operator'],
  query: Type.Object({ appId }),
  data: CallbackHealth,
  refusals: ['applicationNotFound'],
})

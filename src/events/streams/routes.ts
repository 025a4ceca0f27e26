import { applicationOf, requireApplicationOf } from '../../callers/permissions.ts'
import { Reply } from '../../http/answer.ts'
import { type Handler, stream } from '../../http/handler.ts'
import { preferredLanguage } from '../../http/language.ts'
import { wholeNumber } from '../../http/validate.ts'
import { eventTypes } from '../../vocabulary/event-types.ts'
import type { Reason } from '../../vocabulary/refusals.ts'
import { given, integer, reasonKey } from '../../vocabulary/values.ts'
import { eventStreamType, streamEvents, typesOf } from '../contract.ts'
import { readTypes } from '../rules.ts'
import { type EventFilter, pageOfEvents } from '../store.ts'
import type { StreamFilter } from './event-stream.ts'
import type { Streams } from './streams.ts'

const lastEventId = 'Last-Event-ID'
const { [reasonKey]: aPosition } = integer() as unknown as { [reasonKey]: Reason }
const headers = {
  'content-type': eventStreamType,
  'cache-control': 'no-store, no-transform',
  // nginx buffers responses and ignores `no-transform`.
  'x-accel-buffering': 'no',
}

export function streamRoutes(streams: Streams): Handler[] {
  return [
    stream(
      streamEvents,
      async ({ caller, query, header, isHead, pending, readNext, watchAccess }) => {
        const appId = applicationOf(caller, query.appId)
        // A caller's own application exists.
        if (caller.kind === 'operator') await readNext((sql) => requireApplicationOf(sql, caller, appId))
        if (isHead) return new Reply({ status: 200, headers: { ...headers }, body: nothing() })
        const asked = {
          appId,
          types: readTypes(query.type, eventTypes),
          deviceNo: given(query.deviceNo),
          siteId: given(query.siteId),
        }
        const filter = { ...asked, ...unnarrowed }
        const body = await streams.start({
          caller,
          appId,
          filter: streamFilterOf(asked),
          position: positionIn(header) ?? given(query.afterId),
          language: preferredLanguage(header('accept-language')),
          signal: pending.signal,
          watchAccess,
          async readBehind(afterId, throughId, pageSize) {
            const page = { ...filter, afterId, beforeId: throughId + 1, pageSize }
            return (await readNext((sql) => pageOfEvents(sql, page))).list
          },
        })
        return new Reply({ status: 200, headers: { ...headers }, body, cut: body.cut.signal })
      },
      {
        headFaults(header) {
          const sent = header(lastEventId.toLowerCase())
          const isGood = !sent || Number.isSafeInteger(wholeNumber(sent))
          return isGood ? [] : [{ field: lastEventId, reason: aPosition }]
        },
      },
    ),
  ]
}

const unnarrowed = {
  billingRuleId: null,
  time: { from: null, before: null },
  newestFirst: false,
  isUncounted: true,
}

/** Returns a reconnecting reader's position; null without one. */
function positionIn(header: (name: string) => string | null): number | null {
  const sent = header(lastEventId.toLowerCase())
  return sent ? Number(sent) : null
}

/** Filters as `pageOfEvents` does: a record's events are those of its kind of types. */
function streamFilterOf({ types, deviceNo, siteId }: Pick<EventFilter, 'types' | 'deviceNo' | 'siteId'>): StreamFilter {
  let wanted: readonly string[] = types ?? eventTypes
  if (deviceNo !== null) wanted = wanted.filter((type) => typesOf('device').includes(type as never))
  if (siteId !== null) wanted = wanted.filter((type) => typesOf('site').includes(type as never))
  const subject = deviceNo ?? (siteId === null ? null : String(siteId))
  return { types: types === null && subject === null ? null : new Set(wanted), subject }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

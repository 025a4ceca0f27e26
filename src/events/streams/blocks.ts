import { randomInt } from 'node:crypto'
import { type Reason, type Refusal, refusals } from '../../vocabulary/refusals.ts'
import type { EventRecord } from '../contract.ts'

/** Milliseconds are random per stream, so that the readers of a stopped process don't all come back together. */
const retryMs = { from: 1_000, to: 15_000 }

const retryBlock = () => `retry: ${randomInt(retryMs.from, retryMs.to + 1)}\n\n`
const positionBlock = (position: number) => `id: ${position}\n\n`

/** Says when to reconnect, and the position from which the stream continues. */
export const openingBlocks = (position: number) => Buffer.from(retryBlock() + positionBlock(position))

export const heartbeatBlocks = (position: number) => Buffer.from(`:\n\n${positionBlock(position)}`)

/** JSON escapes line breaks, so an event is one data line. */
export const eventBlock = (event: EventRecord) =>
  Buffer.from(`id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

/** Says why the stream ends. It has no ID, so that the position stays. */
export function closedBlock({ refusal }: Refusal, language: keyof Reason): Uint8Array {
  const { code, [language]: msg } = refusals[refusal]
  return Buffer.from(`event: closed\ndata: ${JSON.stringify({ code, msg })}\n\n`)
}

export const farewellBlocks = (refusal: Refusal, language: keyof Reason) =>
  Buffer.concat([Buffer.from(retryBlock()), closedBlock(refusal, language)])

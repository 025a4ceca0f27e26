import { randomInt } from 'node:crypto'
import { type Reason, type Refusal, refusals } from '../../vocabulary/refusals.ts'
import type { EventRecord } from '../contract.ts'

// The blocks of a stream, as the standard of server-sent events defines them.

/**
 * Milliseconds, random for each stream, so that the readers of a process that has ended come back one after the other.
 */
const retryMs = { from: 1_000, to: 15_000 }

const retryBlock = () => `retry: ${randomInt(retryMs.from, retryMs.to + 1)}\n\n`
const positionBlock = (position: number) => `id: ${position}\n\n`

/** The first blocks: when to connect again, and the position from which the stream continues. */
export const openingBlocks = (position: number) => Buffer.from(retryBlock() + positionBlock(position))

/** What is sent when there was nothing to send for a while. */
export const heartbeatBlocks = (position: number) => Buffer.from(`:\n\n${positionBlock(position)}`)

/** An event. JSON has no line breaks outside of texts, and escapes those within. */
export const eventBlock = (event: EventRecord) =>
  Buffer.from(`id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

/** The last block: why the stream ends. It has no id, so that the position stays. */
export function closedBlock({ refusal }: Refusal, language: keyof Reason): Uint8Array {
  const { code, [language]: msg } = refusals[refusal]
  return Buffer.from(`event: closed\ndata: ${JSON.stringify({ code, msg })}\n\n`)
}

/** The last blocks of a process that stops. */
export const farewellBlocks = (refusal: Refusal, language: keyof Reason) =>
  Buffer.concat([Buffer.from(retryBlock()), closedBlock(refusal, language)])

import { expect } from 'bun:test'
import { momentFormat } from '../../src/vocabulary/moments.ts'
import { refusals } from '../../src/vocabulary/refusals.ts'
import { contractRefusals, type RefusalName } from '../conformance/refusals.ts'
import type { Answer } from '../kit/client.ts'

const show = momentFormat('Asia/Shanghai')

/** A time that only the service knows exactly: it lies within the request that caused it, and never changes later. */
export interface Moment {
  from: number
  to: number
  told: string | undefined
}

/** Sends a request. Returns its response, and the time within which it took effect. */
export async function timed<Data>(send: () => Promise<Answer<Data>>): Promise<{ answer: Answer<Data>; at: Moment }> {
  const from = Date.now()
  const answer = await send()
  return { answer, at: { from, to: Date.now(), told: undefined } }
}

/** Another time with the same bounds, for an event that may happen before or after others of the request. */
export function besides({ from, to }: Moment): Moment {
  return { from, to, told: undefined }
}

/** The time that responses must show. The first response sets it, and must lie between the request's start and its end. */
export function settled(moment: Moment, told: unknown): string {
  if (moment.told === undefined) {
    const [earliest, latest] = [show(new Date(moment.from)), show(new Date(moment.to))]
    if (typeof told !== 'string' || !/^[\d: -]{19}$/.test(told) || told < earliest || told > latest) {
      return `a moment from ${earliest} to ${latest}`
    }
    moment.told = told
  }
  return moment.told
}

/** The complete response of a refusal that names no field. */
export function refused(name: RefusalName, status?: number) {
  return { ...contractRefusals[name], ...(status === undefined ? {} : { status }), msg: refusals[name].en, data: null }
}

/** The complete response of a refusal that names fields. */
export function refusedFor(name: RefusalName, errors: { field: string; reason: string }[]) {
  return { ...contractRefusals[name], msg: refusals[name].en, data: { errors } }
}

export function succeeded(data: unknown) {
  return { status: 200, code: 0, msg: 'success', data }
}

/** Compares a complete response, except its headers. */
export function expectWhole(answer: Answer<unknown>, expected: object): void {
  const { status, code, msg, data } = answer
  expect({ status, code, msg, data }).toEqual(expected as typeof answer)
}

import { expect } from 'bun:test'
import { momentFormat } from '../../src/vocabulary/moments.ts'
import { refusals } from '../../src/vocabulary/refusals.ts'
import { contractRefusals, type RefusalName } from '../conformance/refusals.ts'
import type { Answer } from '../harness.ts'

const show = momentFormat('Asia/Shanghai')

/** A moment that only the service knows: within the time of the request that made it, and the same ever after. */
export interface Moment {
  from: number
  to: number
  told: string | undefined
}

/** Sends a request, and answers with it the moment at which it may have had its effect. */
export async function timed<Data>(send: () => Promise<Answer<Data>>): Promise<{ answer: Answer<Data>; at: Moment }> {
  const from = Date.now()
  const answer = await send()
  return { answer, at: { from, to: Date.now(), told: undefined } }
}

/** Another moment of the same time, for what can happen before or after its neighbours. */
export function besides({ from, to }: Moment): Moment {
  return { from, to, told: undefined }
}

/** The moment as it must be shown. The first response decides it, if it lies within the request's time. */
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

/** The whole of a refusal that names no field. */
export function refused(name: RefusalName, status?: number) {
  return { ...contractRefusals[name], ...(status === undefined ? {} : { status }), msg: refusals[name].en, data: null }
}

/** The whole of a refusal that names fields. */
export function refusedFor(name: RefusalName, errors: { field: string; reason: string }[]) {
  return { ...contractRefusals[name], msg: refusals[name].en, data: { errors } }
}

export function succeeded(data: unknown) {
  return { status: 200, code: 0, msg: 'success', data }
}

/** Holds the whole of an answer, but for its headers, to what is expected. */
export function expectWhole(answer: Answer<unknown>, expected: object): void {
  const { status, code, msg, data } = answer
  expect({ status, code, msg, data }).toEqual(expected as typeof answer)
}

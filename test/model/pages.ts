import { expect } from 'bun:test'
import fc from 'fast-check'
import type { Answer } from '../kit/client.ts'
import { expectWhole, succeeded } from './answers.ts'

/** How a list is read: by page number, by cursor, or, for the feed, by `afterId`. */
export interface Walk {
  by: 'pageNo' | 'cursor' | 'afterId'
  pageSize: number
}

export const pageWalk: fc.Arbitrary<Walk> = fc.record({
  by: fc.constantFrom('pageNo' as const, 'cursor' as const),
  pageSize: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constant(100)),
})

type Send = (query: Record<string, unknown>) => Promise<Answer<unknown>>

interface Page {
  list: unknown[]
  nextCursor: string | null
}

/**
 * Reads a list from its first page to its last, and compares every page as a whole with the model's. `expected` returns
 * the records of a page, as many as were received.
 */
export async function expectWalk(
  { by, pageSize }: Walk,
  send: Send,
  expected: (told: unknown[], from: number) => unknown[],
  total: number,
): Promise<void> {
  const pages = Math.max(1, Math.ceil(total / pageSize))
  let next: Record<string, unknown> = {}
  for (let pageNo = 1; pageNo <= pages; pageNo++) {
    const isByNumber = by === 'pageNo' || (pageNo === 1 && by === 'cursor')
    const answer = await send({ pageSize, ...(by === 'pageNo' && pageNo > 1 ? { pageNo } : next) })
    const told = (answer.data as Page | null) ?? { list: [], nextCursor: null }
    const from = (pageNo - 1) * pageSize
    const left = by === 'afterId' ? total - from : total
    const list = expected(told.list, from)
    const isLast = pageNo === pages
    const number = by === 'afterId' ? 1 : isByNumber ? pageNo : null
    const page = {
      list,
      total: left,
      totalIsExact: true,
      pageNo: number,
      pageSize,
      pages: Math.ceil(left / pageSize),
      nextCursor: isLast ? null : expect.any(String),
    }
    expectWhole(answer, succeeded(page))
    if (by === 'cursor') next = { cursor: told.nextCursor }
    if (by === 'afterId') next = { afterId: (told.list.at(-1) as { id: number } | undefined)?.id }
  }
}

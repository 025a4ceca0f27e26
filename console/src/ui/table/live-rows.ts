import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import type { PageData } from './pager.tsx'

/** The most rows of a page operation. */
const mostRows = 100

interface LiveRows<Item> {
  /** The application whose events tell of changes; empty: the rows are not live. */
  appId: string
  queryKey: QueryKey
  pageSize: number
  /** Whether it is the first page. New rows come there. */
  isFirst: boolean
  rowKey: (item: Item) => string | number
  /** Reads the page with this many rows. */
  load: (pageSize: number) => Promise<PageData<Item>>
}

/**
 * Changes the rows of a table in place as they change. New rows join only where nobody reads: at the top of the first
 * page. Elsewhere they wait: `waiting` is their number, and `join` shows them.
 */
export function useLiveRows<Item>({ appId, queryKey, pageSize, isFirst, rowKey, load }: LiveRows<Item>) {
  const queries = useQueryClient()
  const name = JSON.stringify(queryKey)
  const [held, hold] = useState({ name, waiting: 0 })
  const waiting = held.name === name ? held.waiting : 0
  async function read(): Promise<void> {
    // A page that was scrolled must not move: new rows and those that they have pushed off the page are read too.
    const joins = isFirst && scrollY < 1
    const size = joins || !isFirst ? pageSize : Math.min(mostRows, pageSize + waiting)
    const fresh = await load(size).catch(() => undefined)
    const shown = queries.getQueryData<PageData<Item>>(queryKey)
    if (fresh === undefined || shown === undefined) return
    if (joins && scrollY < 1) {
      queries.setQueryData(queryKey, fresh)
      hold({ name, waiting: 0 })
      return
    }
    const { list, added } = inPlace(shown.list, fresh.list, rowKey, fresh.list.length === size)
    const page = size === pageSize ? fresh : { ...fresh, pages: shown.pages, pageSize }
    queries.setQueryData(queryKey, { ...page, list, nextCursor: shown.nextCursor })
    hold({ name, waiting: added })
  }
  const isLive = useLive(appId, () => void read())
  async function join(): Promise<void> {
    await queries.refetchQueries({ queryKey, exact: true })
    hold({ name, waiting: 0 })
    scrollTo({ top: 0 })
  }
  return { isLive, waiting, join }
}

/** The shown rows as they now are, in their order, and how many rows are new. */
function inPlace<Item>(
  shown: readonly Item[],
  fresh: readonly Item[],
  rowKey: (item: Item) => string | number,
  mayHoldMore: boolean,
) {
  const byKey = new Map(fresh.map((item) => [rowKey(item), item]))
  const known = new Set(shown.map(rowKey))
  const added = fresh.filter((item) => !known.has(rowKey(item))).length
  // A row that is missing may have been pushed off the page by new ones.
  const list = shown.flatMap((item) => byKey.get(rowKey(item)) ?? (mayHoldMore && added > 0 ? [item] : []))
  return { list, added }
}

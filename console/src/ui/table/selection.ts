import { useState } from 'react'
import { useSearchParams } from 'react-router'

/**
 * Parameters of the address that are not filters: another page of the same rows, or another order, keeps the selection.
 */
const framing = ['cursor', 'pageNo', 'pageSize', 'sort', 'order', 'view']

/** The selected rows of a table, over its pages; another filter clears the selection. */
export function useSelection() {
  const [search] = useSearchParams()
  const filters = new URLSearchParams(search)
  for (const name of framing) filters.delete(name)
  const place = filters.toString()
  const [chosen, setChosen] = useState<{ place: string; keys: string[] }>({ place, keys: [] })
  const keys = chosen.place === place ? chosen.keys : []
  return [keys, (now: string[]) => setChosen({ place, keys: now })] as const
}

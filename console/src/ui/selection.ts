import { useState } from 'react'
import { useSearchParams } from 'react-router'

/** The selected rows of a table; another page or filter clears the selection. */
export function useSelection() {
  const [search] = useSearchParams()
  const place = search.toString()
  const [chosen, setChosen] = useState<{ place: string; keys: string[] }>({ place, keys: [] })
  const keys = chosen.place === place ? chosen.keys : []
  return [keys, (now: string[]) => setChosen({ place, keys: now })] as const
}

import { useState } from 'react'
import { useSearchParams } from 'react-router'

/** What is chosen of the rows that are shown; another page or filter chooses nothing. */
export function useSelection() {
  const [search] = useSearchParams()
  const place = search.toString()
  const [chosen, setChosen] = useState<{ place: string; keys: string[] }>({ place, keys: [] })
  const keys = chosen.place === place ? chosen.keys : []
  return [keys, (now: string[]) => setChosen({ place, keys: now })] as const
}

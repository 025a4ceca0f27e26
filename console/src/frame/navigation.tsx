import type { ReactNode } from 'react'
import { useMay } from '../api/api.ts'
import { useLanguage } from '../language/index.ts'
import { pages } from '../routes.tsx'

/** A page that the menu or the search leads to. */
export interface Entry {
  /** Its path within the console; `overview` for the console's own. */
  key: string
  path: string
  title: string
  /** Only of a page of the menu. */
  icon?: ReactNode
  otherWords: string
}

/** The pages with a title of their own that the signed-in user may see, those of the menu first. */
export function useEntries(): Entry[] {
  const language = useLanguage()
  const may = useMay()
  const entries = pages.flatMap(({ path, entry }) => {
    if (entry === undefined || (entry.needs !== undefined && !may(entry.needs))) return []
    const { title, ...shown } = entry
    return [{ ...shown, key: path || 'overview', path: `/console/${path}`.replace(/\/$/, ''), title: title[language] }]
  })
  return entries.toSorted((one, other) => Number(other.icon !== undefined) - Number(one.icon !== undefined))
}

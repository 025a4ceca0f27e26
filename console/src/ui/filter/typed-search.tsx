import { Spin } from 'antd'
import { useState } from 'react'
import { Nothing } from '../page/nothing.tsx'
import { useRested } from './rested.ts'

/**
 * The text typed into a list that is searched by the service, a moment after the last key. While `isAsked` is false the
 * list must be empty, because Enter would choose a result of an earlier text.
 */
export function useTypedSearch() {
  const [typed, search] = useState('')
  const wished = typed.trim()
  const asked = useRested(wished, wished === '' ? 0 : 250)
  return { search, asked, isAsked: wished === asked }
}

/** Shown in place of the rows when a search finds none. */
export function NothingFound({ isWaiting, words }: { isWaiting: boolean; words: string }) {
  if (isWaiting) return <Spin size="small" style={{ display: 'block', margin: 12 }} />
  return <Nothing words={words} />
}

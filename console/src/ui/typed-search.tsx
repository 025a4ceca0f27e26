import { Empty, Spin } from 'antd'
import { useEffect, useState } from 'react'

/**
 * What someone types into a list whose rows are looked for elsewhere, asked for a moment after the last key. While
 * `isAsked` is false the list must be empty: Enter would choose what an earlier text has found.
 */
export function useTypedSearch() {
  const [typed, search] = useState('')
  const [asked, setAsked] = useState('')
  const wished = typed.trim()
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wished), wished === '' ? 0 : 250)
    return () => clearTimeout(timer)
  }, [wished])
  return { search, asked, isAsked: wished === asked }
}

/** What such a list shows in the place of rows. */
export function NothingFound({ isWaiting, words }: { isWaiting: boolean; words: string }) {
  if (isWaiting) return <Spin size="small" style={{ display: 'block', margin: 12 }} />
  return <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={words} />
}

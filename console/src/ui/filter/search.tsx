import { Spin } from 'antd'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { pageApplications } from '../../../../src/applications/contract.ts'
import { useRead } from '../../api/api.ts'
import { isComposing, whenComposing } from '../../browser/composing.ts'
import { Nothing } from '../page/nothing.tsx'

/** Searches applications by a part of their names. */
export function useApplicationSearch() {
  const { search, asked, isAsked } = useTypedSearch()
  const { data, isFetching } = useRead(pageApplications, { pageSize: 20, appName: asked })
  return { search, asked, found: isAsked ? (data?.list ?? []) : [], isWaiting: !isAsked || isFetching }
}

/** An option of a list: an application's name and the beginning of its id, because names may be alike. */
export function applicationOption({ appId, appName }: { appId: string; appName: string }) {
  return {
    value: appId,
    label: (
      <span>
        {appName} <span className="faint mono">{appId.slice(0, 8)}</span>
      </span>
    ),
  }
}

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

/** Whether a word is being composed. */
export const useIsComposing = (): boolean => useSyncExternalStore(whenComposing, isComposing)

/** A typed text, once it has not changed for a moment and is no unfinished word. */
export function useRested(text: string, restMs: number): string {
  const [rested, setRested] = useState(text)
  const isUnfinished = useIsComposing()
  useEffect(() => {
    if (isUnfinished) return
    const timer = setTimeout(() => setRested(text), restMs)
    return () => clearTimeout(timer)
  }, [text, isUnfinished, restMs])
  return rested
}

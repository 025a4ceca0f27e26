import { useEffect, useEffectEvent } from 'react'
import { useBlocker } from 'react-router'
import { defineTexts } from '../language/index.ts'
import { loadFeedback, showQuestion } from './feedback.tsx'

const useTexts = defineTexts(
  {
    title: 'Leave without saving?',
    words: 'What you entered here is not saved, and would be lost.',
    leave: 'Leave',
    stay: 'Stay',
  },
  { title: '不保存就离开？', words: '您填写的内容尚未保存，离开后将丢失。', leave: '离开', stay: '留下' },
)

interface Question {
  title: string
  words: string
}

/** Each returns the question to ask before leaving; undefined if nothing would be lost. */
const guards = new Set<() => Question | undefined>()

function question(): Question | undefined {
  for (const guard of guards) {
    const asked = guard()
    if (asked !== undefined) return asked
  }
  return undefined
}

/** Asks before the user leaves the page, while the guard returns a question. */
export function useGuard(guard: () => Question | undefined): void {
  const asked = useEffectEvent(guard)
  useEffect(() => {
    const known = () => asked()
    guards.add(known)
    loadFeedback()
    return () => void guards.delete(known)
  }, [])
}

/** Asks before the user leaves unsaved input. */
export function useUnsaved(isUnsaved: () => boolean): void {
  const t = useTexts()
  useGuard(() => (isUnsaved() ? { title: t('title'), words: t('words') } : undefined))
}

/** Returns a function that leaves, asking first if something would be lost. Its result closes the question. */
export function useLeave(): (go: () => void, stay?: () => void) => () => void {
  const t = useTexts()
  return (go, stay) => {
    const asked = question()
    if (asked === undefined) {
      go()
      return () => {}
    }
    const { title, words: content } = asked
    const onOk = () => {
      // One question covers all guards.
      guards.clear()
      go()
    }
    return showQuestion({ title, content, okText: t('leave'), cancelText: t('stay'), onOk, onCancel: stay })
  }
}

/** Asks at links within the console, and when the window closes. Rendered once: the router takes only one blocker. */
export function LeaveGuard() {
  const leave = useLeave()
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      currentLocation.pathname !== nextLocation.pathname && question() !== undefined,
  )
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => question() !== undefined && event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [])
  const askToLeave = useEffectEvent(() =>
    leave(
      () => blocker.proceed?.(),
      () => blocker.reset?.(),
    ),
  )
  useEffect(() => (blocker.state === 'blocked' ? askToLeave() : undefined), [blocker.state])
  return null
}

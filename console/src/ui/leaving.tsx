import { useEffect, useEffectEvent } from 'react'
import { useBlocker } from 'react-router'
import { defineTexts } from '../language/index.ts'
import { ask, getTold } from './told.tsx'

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

/** Each says what would be lost by leaving now; undefined while nothing would. */
const guards = new Set<() => Question | undefined>()

function question(): Question | undefined {
  for (const guard of guards) {
    const asked = guard()
    if (asked !== undefined) return asked
  }
  return undefined
}

/** Has leaving asked, for as long as something would be lost by it. */
export function useGuard(guard: () => Question | undefined): void {
  const asked = useEffectEvent(guard)
  useEffect(() => {
    const known = () => asked()
    guards.add(known)
    getTold()
    return () => void guards.delete(known)
  }, [])
}

/** The same for what was entered and is not saved. */
export function useUnsaved(isUnsaved: () => boolean): void {
  const t = useTexts()
  useGuard(() => (isUnsaved() ? { title: t('title'), words: t('words') } : undefined))
}

/** Goes, but not before it was asked, where something would be lost; tells how to take the question back. */
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
      // Who leaves leaves all of it, and is asked once.
      guards.clear()
      go()
    }
    return ask({ title, content, okText: t('leave'), cancelText: t('stay'), onOk, onCancel: stay })
  }
}

/** Asks at the console's own links and at the window's door. There is one of it: the router takes but one blocker. */
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

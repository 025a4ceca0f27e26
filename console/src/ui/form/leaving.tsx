import { useEffect, useEffectEvent } from 'react'
import { useBlocker } from 'react-router'
import { defineTexts } from '../../language/index.ts'
import { showQuestion } from '../dialog/feedback.tsx'

const useTexts = defineTexts({
  title: ['Leave without saving?', '不保存就离开？'],
  words: ['Your changes will be lost.', '您填写的内容尚未保存，离开后将丢失。'],
  leave: ['Leave', '离开'],
  stay: ['Stay', '留下'],
})

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

/** The fields of the pages that something was typed into. */
const typedInto = new WeakSet<EventTarget>()
addEventListener('input', ({ target }) => target !== null && typedInto.add(target), true)

/**
 * Whether something on the page would be lost with it: unsaved input, an open dialog, or what a page marks as
 * `data-work`. Filters are in the address.
 */
export function isSomethingOpen(): boolean {
  const isSeen = (found: Element) => found.checkVisibility()
  const fields = [...document.querySelectorAll('main :is(input, textarea)')]
  return (
    question() !== undefined ||
    // Something waits already.
    document.querySelector('[data-away]') !== null ||
    document.querySelector('dialog[open]') !== null ||
    [...document.querySelectorAll('main [data-work]')].some(isSeen) ||
    fields.some((field) => typedInto.has(field) && field.closest('search, .pager') === null)
  )
}

/** Asks before the user leaves the page, while the guard returns a question. */
export function useGuard(guard: () => Question | undefined): void {
  const asked = useEffectEvent(guard)
  useEffect(() => {
    const known = () => asked()
    guards.add(known)
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

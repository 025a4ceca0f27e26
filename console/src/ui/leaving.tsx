import { App, Drawer } from 'antd'
import { type ReactNode, useEffect, useEffectEvent } from 'react'
import { useBlocker } from 'react-router'
import { defineTexts } from '../language/index.ts'

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
  const ask = useEffectEvent(guard)
  useEffect(() => {
    const known = () => ask()
    guards.add(known)
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
  const { modal } = App.useApp()
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
    return modal.confirm({ title, content, okText: t('leave'), cancelText: t('stay'), onOk, onCancel: stay }).destroy
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
  const ask = useEffectEvent(() =>
    leave(
      () => blocker.proceed?.(),
      () => blocker.reset?.(),
    ),
  )
  useEffect(() => (blocker.state === 'blocked' ? ask() : undefined), [blocker.state])
  return null
}

interface FormDrawerProps {
  isOpen: boolean
  title: string
  onClose: () => void
  children: ReactNode
}

/** A form beside its page; closing it is asked where something would be lost. */
export function FormDrawer({ isOpen, title, onClose, children }: FormDrawerProps) {
  const leave = useLeave()
  return (
    <Drawer open={isOpen} title={title} onClose={() => leave(onClose)} size="min(720px, 100vw)" destroyOnHidden>
      {children}
    </Drawer>
  )
}

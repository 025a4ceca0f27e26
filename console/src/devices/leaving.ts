import { App } from 'antd'
import { useEffect, useEffectEvent } from 'react'
import { useBlocker } from 'react-router'
import { defineTexts } from '../language/index.ts'

const useTexts = defineTexts(
  'devices-leaving',
  {
    title: 'Leave while rows are being sent?',
    words: 'What was sent stays. The rest is not sent, and which rows those are is not shown any more.',
    leave: 'Leave',
    stay: 'Stay',
  },
  {
    title: '正在提交，确定离开？',
    words: '已提交的数据保留，其余不再提交，且不再显示哪些行未提交。',
    leave: '离开',
    stay: '留下',
  },
)

/** A run that one leaves goes no further: asks before, inside the console and at the window's own door. */
export function useWarningBeforeLeaving(isRunning: boolean): void {
  const t = useTexts()
  const { modal } = App.useApp()
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => isRunning && currentLocation.pathname !== nextLocation.pathname,
  )
  useEffect(() => {
    if (!isRunning) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isRunning])
  const ask = useEffectEvent(() =>
    modal.confirm({
      title: t('title'),
      content: t('words'),
      okText: t('leave'),
      cancelText: t('stay'),
      onOk: () => blocker.proceed?.(),
      onCancel: () => blocker.reset?.(),
    }),
  )
  useEffect(() => {
    if (blocker.state !== 'blocked') return
    const { destroy } = ask()
    return destroy
  }, [blocker.state])
}

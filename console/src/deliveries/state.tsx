import { State } from '../ui/text/status.tsx'
import { undelivered } from './filter.ts'
import { useTexts } from './texts.ts'

/** The state of a delivery: 1 waiting, 2 delivered, 3 dead. */
export function DeliveryState({ status }: { status: number }) {
  const t = useTexts()
  if (status === 2) return <State tone="good">{t('delivered')}</State>
  return status === 3 ? <State tone="bad">{t('failed')}</State> : <State tone="busy">{t('pending')}</State>
}

/** The states that a filter offers. */
export function useStateChoices(): Record<string, string> {
  const t = useTexts()
  return { 1: t('pending'), 2: t('delivered'), 3: t('failed'), [undelivered]: t('undelivered') }
}

import { State } from '../ui/status.tsx'
import { useTexts } from './texts.ts'

/** The state of a delivery: 1 waiting, 2 delivered, 3 dead. */
export function DeliveryState({ status }: { status: number }) {
  const t = useTexts()
  if (status === 2) return <State tone="good">{t('delivered')}</State>
  return status === 3 ? <State tone="bad">{t('dead')}</State> : <State tone="busy">{t('waiting')}</State>
}

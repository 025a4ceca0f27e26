import { defineTexts } from '../language/index.ts'
import { useGuard } from '../ui/leaving.tsx'

const useTexts = defineTexts(
  'devices-leaving',
  {
    title: 'Leave while rows are being sent?',
    words: 'What was sent stays. The rest is not sent, and which rows those are is not shown any more.',
  },
  {
    title: '正在提交，确定离开？',
    words: '已提交的数据保留，其余不再提交，且不再显示哪些行未提交。',
  },
)

/** A run that one leaves goes no further, which is asked before. */
export function useWarningBeforeLeaving(isRunning: boolean): void {
  const t = useTexts()
  useGuard(() => (isRunning ? { title: t('title'), words: t('words') } : undefined))
}

import { ExclamationCircleFilled } from '@ant-design/icons'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { getSettings } from '../../../../src/people/sessions/contract.ts'
import { reading } from '../../api/api.ts'
import { serviceTime } from '../../api/clock.ts'
import { retryFailed, useUntold } from '../../api/outages.ts'
import { defineTexts } from '../../language/index.ts'
import { Button } from './button.tsx'
import { useWords } from './refusal.tsx'

const useTexts = defineTexts({
  since: ['Not refreshed since {{time}}: {{reason}}', '自 {{time}} 起未能刷新：{{reason}}'],
  some: ['Part of this page can’t be loaded: {{reason}}', '此页面的部分内容无法加载：{{reason}}'],
})

/** The page’s own requests come first. */
const zoneAfterMs = 2_000

/** Above every page: tells that something on it is old, or missing, because it could not be read. */
export function NotRefreshed() {
  const t = useTexts()
  const queries = useQueryClient()
  const untold = useUntold()
  useEffect(() => {
    // During an outage it is too late to ask for the time zone.
    const zone = { ...reading(getSettings, {}), staleTime: Number.POSITIVE_INFINITY, gcTime: Number.POSITIVE_INFINITY }
    const timer = setTimeout(() => void queries.prefetchQuery(zone), zoneAfterMs)
    return () => clearTimeout(timer)
  }, [queries])
  const { message, details } = useWords(untold?.error)
  if (untold === undefined) return null
  const timeZone = queries.getQueryData<{ timeZone: string }>(reading(getSettings, {}).queryKey)?.timeZone
  const time = new Intl.DateTimeFormat('en-GB', { ...(timeZone && { timeZone }), timeStyle: 'short' }).format(
    serviceTime(untold.dataUpdatedAt),
  )
  return (
    <div className="not-refreshed" role="alert">
      <ExclamationCircleFilled aria-hidden />
      <span className="notice-words" title={details}>
        {untold.data === undefined ? t('some', { reason: message }) : t('since', { time, reason: message })}
      </span>
      <Button size="small" loading={untold.fetchStatus === 'fetching'} onClick={() => void retryFailed(queries)}>
        {t('retry')}
      </Button>
    </div>
  )
}

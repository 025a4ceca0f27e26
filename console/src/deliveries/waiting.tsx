import { Alert } from 'antd'
import { pageDeliveries } from '../../../src/deliveries/contract.ts'
import { useRead } from '../api.ts'
import { grouped } from '../ui/number.ts'
import { useTexts } from './texts.ts'

/** The backlog of an application's callback, if it is not empty. */
export function Waiting({ appId }: { appId: string }) {
  const t = useTexts()
  const { data } = useRead(pageDeliveries, { appId, pageSize: 1 }, { refetchInterval: 10_000 })
  if (data === undefined || data.waitingEvents === null) return null
  const { waitingEvents, waitingSince, heldUntil, callbacks } = data
  const count = grouped(waitingEvents)
  return (
    <>
      {callbacks === 'paused' && <Paused />}
      {heldUntil !== null && <Line type="warning" text={t('held', { time: heldUntil })} />}
      {waitingSince !== null && <Line type="info" text={t('waitingEvents', { count, time: waitingSince })} />}
    </>
  )
}

/** A notice that this service has paused callbacks. */
export function Paused() {
  return <Line type="warning" text={useTexts()('paused')} />
}

function Line({ type, text }: { type: 'info' | 'warning'; text: string }) {
  return <Alert type={type} showIcon role="status" title={text} style={{ marginBottom: 12 }} />
}

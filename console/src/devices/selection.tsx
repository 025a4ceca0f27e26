import { Alert, Button, Form, Modal, Progress } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { transferDevices, unbindDevices } from '../../../src/devices/ownership/contract.ts'
import { limits } from '../../../src/vocabulary/limits.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { newIdempotencyKey, useWrite } from '../api/api.ts'
import { useMay } from '../api/session.tsx'
import { defineTexts } from '../language/index.ts'
import { paths } from '../paths.ts'
import { ApplicationPicker } from '../ui/filter/application-picker.tsx'
import { LimitedTextArea } from '../ui/form/limited.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { Rows } from '../ui/table/rows.tsx'
import { State } from '../ui/text/status.tsx'
import { useDeviceTexts } from './texts.ts'

const useTexts = defineTexts(
  {
    transfer: 'Transfer {{count}}',
    transferTitle: 'Transfer {{count}} {{count:device|devices}}?',
    transferWords:
      'Moves each device to another online application, with its name, address and state. The devices are removed from their sites.',
    transferVerb: 'Transfer',
    unbind: 'Unbind {{count}}',
    unbindTitle: 'Unbind {{count}} {{count:device|devices}}?',
    unbindWords: 'The serial numbers become free immediately, for any application. The ownership history is kept.',
    unbindVerb: 'Unbind',
    over: '{{done}} of {{count}} done.',
  },
  {
    transfer: '转移 {{count}} 台',
    transferTitle: '转移 {{count}} 台设备？',
    transferWords: '每台设备整体转移到另一个在线应用，名称、地址和状态一并转移。转移后不再安装在任何站点。',
    transferVerb: '转移',
    unbind: '解绑 {{count}} 台',
    unbindTitle: '解绑 {{count}} 台设备？',
    unbindWords: '立即释放这些设备序列号，任何应用都可重新注册。归属记录保留在历史中。',
    unbindVerb: '解绑',
    over: '已完成 {{done}} / {{count}}。',
  },
)

export interface ChosenDevice {
  appId: string
  deviceNo: string
}

type Way = 'transfer' | 'unbind'

interface Outcome extends ChosenDevice {
  code: number
  msg: string
}

interface SelectionProps {
  chosen: ChosenDevice[]
  onDone: () => void
}

/** The actions on several devices at once. */
export function DeviceSelection({ chosen, onDone }: SelectionProps) {
  const t = useTexts()
  const may = useMay()
  const [asked, setAsked] = useState<{ way: Way; chosen: ChosenDevice[] }>()
  const operations = { transfer: transferDevices, unbind: unbindDevices }
  const ways = (['transfer', 'unbind'] as const).filter((way) => may(operations[way]))
  return (
    <>
      {ways.map((way) => (
        <Button key={way} danger={way === 'unbind'} onClick={() => setAsked({ way, chosen })}>
          {t(way, { count: chosen.length })}
        </Button>
      ))}
      {asked && (
        <Dialog
          {...asked}
          onClose={(isOver) => {
            setAsked(undefined)
            if (isOver) onDone()
          }}
        />
      )}
    </>
  )
}

interface DialogProps {
  way: Way
  chosen: ChosenDevice[]
  onClose: (isOver: boolean) => void
}

/** Asks for one reason, sends batches per application, and shows the outcome of each device. */
function Dialog({ way, chosen, onClose }: DialogProps) {
  const t = useTexts()
  const [target, setTarget] = useState('')
  const [reason, setReason] = useState('')
  const { run, outcomes, error, isRunning, isOver } = useRun(way, chosen)
  const wantsReason = way === 'transfer'
  const isReady = !wantsReason || (target !== '' && reason.trim() !== '')
  const count = chosen.length
  return (
    <Modal
      open
      width={640}
      title={t(`${way}Title`, { count })}
      closable={!isRunning}
      keyboard={!isRunning}
      mask={{ closable: false }}
      onCancel={() => onClose(outcomes.length > 0)}
      okText={isOver ? t('close') : t(`${way}Verb`)}
      okButtonProps={{ danger: !isOver && way === 'unbind', disabled: !isReady, loading: isRunning }}
      cancelButtonProps={isOver ? { style: { display: 'none' } } : { disabled: isRunning }}
      cancelText={t('cancel')}
      onOk={() => (isOver ? onClose(true) : void run(target, reason))}
    >
      <RefusalAlert error={error} />
      {outcomes.length === 0 && !isRunning && (
        <>
          <p>{t(`${way}Words`)}</p>
          <Form layout="vertical" component="div">
            {way === 'transfer' && (
              <Form.Item label={t('target')} required htmlFor="selection-target">
                <ApplicationPicker id="selection-target" value={target} onChange={setTarget} />
              </Form.Item>
            )}
            <Form.Item
              label={t('reason')}
              required={wantsReason}
              extra={t(wantsReason ? 'reasonNeeded' : 'reasonKept')}
              htmlFor="selection-reason"
            >
              <LimitedTextArea
                id="selection-reason"
                most={lengths.reason}
                autoSize={{ minRows: 2 }}
                value={reason}
                onChange={({ target: field }) => setReason(field.value)}
              />
            </Form.Item>
          </Form>
        </>
      )}
      {isRunning && (
        <>
          <Progress
            aria-label={t(`${way}Title`, { count })}
            percent={Math.round((outcomes.length / count) * 100)}
            showInfo={false}
          />
          <p className="number">{t('doneOf', { done: outcomes.length, count })}</p>
        </>
      )}
      {isOver && <Outcomes outcomes={outcomes} count={count} target={target} />}
    </Modal>
  )
}

/** The devices of each application, as many at once as one request takes. */
function portionsOf(chosen: readonly ChosenDevice[]) {
  return [...new Set(chosen.map(({ appId }) => appId))].flatMap((appId) => {
    const serials = chosen.filter((one) => one.appId === appId).map(({ deviceNo }) => deviceNo)
    const starts = Array.from(
      { length: Math.ceil(serials.length / limits.batchRows) },
      (_, at) => at * limits.batchRows,
    )
    return starts.map((from) => ({
      appId,
      deviceNos: serials.slice(from, from + limits.batchRows),
      headers: newIdempotencyKey(),
    }))
  })
}

/** Sends the selection in portions, each with an idempotency key in case a response is lost. */
function useRun(way: Way, chosen: ChosenDevice[]) {
  const transfer = useWrite(transferDevices)
  const unbind = useWrite(unbindDevices)
  const [portions] = useState(() => portionsOf(chosen))
  const [next, setNext] = useState(0)
  const [outcomes, setOutcomes] = useState<Outcome[]>([])
  const [error, setError] = useState<ForecourtError>()
  const [isRunning, setRunning] = useState(false)

  async function run(targetAppId: string, reasonText: string): Promise<void> {
    setRunning(true)
    setError(undefined)
    try {
      for (const [index, { appId, deviceNos, headers }] of portions.entries()) {
        if (index < next) continue
        const reason = reasonText.trim() === '' ? null : reasonText
        const { results } =
          way === 'transfer'
            ? await transfer.mutateAsync({ input: { deviceNos, targetAppId, reason: reasonText }, headers })
            : await unbind.mutateAsync({ input: { appId, deviceNos, reason }, headers })
        setOutcomes((before) => [
          ...before,
          ...results.map(({ deviceNo, code, msg }) => ({ appId, deviceNo: String(deviceNo), code, msg })),
        ])
        setNext(index + 1)
      }
    } catch (refusal) {
      setError(refusal as ForecourtError)
    } finally {
      setRunning(false)
    }
  }

  return { run, outcomes, error, isRunning, isOver: next === portions.length }
}

function Outcomes({ outcomes, count, target }: { outcomes: Outcome[]; count: number; target: string }) {
  const t = useTexts()
  const devices = useDeviceTexts()
  const done = outcomes.filter(({ code }) => code === 0).length
  return (
    <div role="status">
      <Alert
        type={done === count ? 'success' : 'warning'}
        showIcon
        title={t('over', { done, count })}
        style={{ marginBottom: 12 }}
      />
      <div style={{ maxHeight: 320, overflow: 'auto' }}>
        <Rows<Outcome>
          label={t('result')}
          isSmall
          rowKey={({ deviceNo }) => deviceNo}
          empty={null}
          // Refused devices come first.
          rows={outcomes.toSorted((a, b) => Number(a.code === 0) - Number(b.code === 0))}
          columns={[
            {
              key: 'deviceNo',
              title: devices('deviceNo'),
              className: 'mono',
              render: (_, { appId, deviceNo, code }) => {
                if (code === 0 && target === '') return deviceNo
                return <Link to={paths.device(code === 0 ? target : appId, deviceNo)}>{deviceNo}</Link>
              },
            },
            {
              key: 'outcome',
              title: t('result'),
              render: (_, { code, msg }) =>
                code === 0 ? (
                  <State tone="good">{t('done')}</State>
                ) : (
                  <div style={{ whiteSpace: 'normal' }}>
                    <State tone="bad">{code}</State> {msg}
                  </div>
                ),
            },
          ]}
        />
      </div>
    </div>
  )
}

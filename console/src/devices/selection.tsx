import { Form } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import { transferDevices, unbindDevices } from '../../../src/devices/ownership/contract.ts'
import { limits } from '../../../src/vocabulary/limits.ts'
import { newIdempotencyKey, useMay, useWrite } from '../api/api.ts'
import { defineTexts } from '../language/index.ts'
import { paths } from '../paths.ts'
import { RunDialog } from '../ui/dialog/run-dialog.tsx'
import { ApplicationPicker } from '../ui/filter/filters.tsx'
import { ReasonField } from '../ui/form/reason-field.tsx'
import { Button } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { Rows } from '../ui/table/rows.tsx'
import { State } from '../ui/text/status.tsx'
import { useDeviceTexts } from './texts.ts'

const useTexts = defineTexts({
  transfer: ['Transfer {{count}}', '转移 {{count}} 台'],
  transferTitle: ['Transfer {{count}} {{count:device|devices}}?', '转移 {{count}} 台设备？'],
  transferWords: [
    'Moves each device to another application, with its name, address and state. The devices are removed from their sites.',
    '每台设备整体转移到另一个在线应用，名称、地址和状态一并转移。转移后不再安装在任何站点。',
  ],
  transferOver: ['Transfer of {{count}} {{count:device|devices}}', '转移 {{count}} 台设备'],
  transferVerb: ['Transfer', '转移'],
  unbind: ['Unbind {{count}}', '解绑 {{count}} 台'],
  unbindTitle: ['Unbind {{count}} {{count:device|devices}}?', '解绑 {{count}} 台设备？'],
  unbindWords: [
    'The serial numbers become free immediately, for any application. The ownership history is kept.',
    '立即释放这些设备序列号，任何应用都可重新注册。归属记录保留在历史中。',
  ],
  unbindOver: ['Unbinding of {{count}} {{count:device|devices}}', '解绑 {{count}} 台设备'],
  unbindVerb: ['Unbind', '解绑'],
  over: ['{{done}} of {{count}} done.', '已完成 {{done}} / {{count}}。'],
})

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
          onClose={(isBegun) => {
            setAsked(undefined)
            if (isBegun) onDone()
          }}
        />
      )}
    </>
  )
}

interface DialogProps {
  way: Way
  chosen: ChosenDevice[]
  onClose: (isBegun: boolean) => void
}

/** Asks for one reason, sends batches per application, and shows the outcome of each device. */
function Dialog({ way, chosen, onClose }: DialogProps) {
  const t = useTexts()
  const transfer = useWrite(transferDevices)
  const unbind = useWrite(unbindDevices)
  const [portions] = useState(() => portionsOf(chosen))
  const [outcomes, setOutcomes] = useState<Outcome[]>([])
  const [target, setTarget] = useState('')
  const [reason, setReason] = useState('')
  const wantsReason = way === 'transfer'
  const count = chosen.length

  async function send({ appId, deviceNos, headers }: Portion): Promise<void> {
    const { results } =
      way === 'transfer'
        ? await transfer.mutateAsync({ input: { deviceNos, targetAppId: target, reason }, headers })
        : await unbind.mutateAsync({
            input: { appId, deviceNos, reason: reason.trim() === '' ? null : reason },
            headers,
          })
    const found = results.map(({ deviceNo, code, msg }) => ({ appId, deviceNo: String(deviceNo), code, msg }))
    setOutcomes((before) => [...before, ...found])
  }

  return (
    <RunDialog
      title={t(`${way}Title`, { count })}
      titleOver={t(`${way}Over`, { count })}
      verb={t(`${way}Verb`)}
      isDangerous={way === 'unbind'}
      isReady={!wantsReason || (target !== '' && reason.trim() !== '')}
      parts={portions}
      sizeOf={({ deviceNos }) => deviceNos.length}
      send={send}
      over={<Outcomes outcomes={outcomes} count={count} target={target} />}
      onClose={onClose}
    >
      <p>{t(`${way}Words`)}</p>
      <Form layout="vertical" component="div">
        {way === 'transfer' && (
          <Form.Item label={t('target')} required htmlFor="selection-target">
            <ApplicationPicker id="selection-target" value={target} onChange={setTarget} />
          </Form.Item>
        )}
        <ReasonField id="selection-reason" value={reason} onChange={setReason} isRequired={wantsReason} />
      </Form>
    </RunDialog>
  )
}

type Portion = ReturnType<typeof portionsOf>[number]

/** The devices of each application, as many at once as one request takes, each with a key in case a response is lost. */
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

function Outcomes({ outcomes, count, target }: { outcomes: Outcome[]; count: number; target: string }) {
  const t = useTexts()
  const devices = useDeviceTexts()
  const done = outcomes.filter(({ code }) => code === 0).length
  return (
    <>
      <Note type={done === count ? 'success' : 'warning'} words={t('over', { done, count })} />
      <div className="scrolls">
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
              render: ({ appId, deviceNo, code }) => {
                if (code === 0 && target === '') return deviceNo
                return <Link to={paths.device(code === 0 ? target : appId, deviceNo)}>{deviceNo}</Link>
              },
            },
            {
              key: 'outcome',
              title: t('result'),
              render: ({ code, msg }) =>
                code === 0 ? (
                  <State tone="good">{t('done')}</State>
                ) : (
                  <div className="wraps">
                    <State tone="bad">{code}</State> {msg}
                  </div>
                ),
            },
          ]}
        />
      </div>
    </>
  )
}

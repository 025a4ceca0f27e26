import { Form } from 'antd'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { forceUnbindDevice, transferDevice, unbindDevice } from '../../../src/devices/ownership/contract.ts'
import { useMay, useWrite } from '../api/api.ts'
import { defineTexts } from '../language/index.ts'
import { paths } from '../paths.ts'
import { Confirm } from '../ui/dialog/confirm.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { ApplicationPicker } from '../ui/filter/filters.tsx'
import { Button } from '../ui/page/button.tsx'
import { Card } from '../ui/page/page.tsx'

const useTexts = defineTexts({
  title: ['Ownership', '归属变更'],
  transfer: ['Transfer', '转移'],
  transferTitle: ['Transfer this device?', '转移此设备？'],
  transferWords: [
    'Moves the device to another application, with its name, address and state. The device is removed from its site. Both applications are notified; neither learns the other’s identity.',
    '将设备整体转移到另一个在线应用，名称、地址和状态一并转移。转移后不再安装在任何站点。双方应用都会收到通知，但互不知晓对方。',
  ],
  transferred: ['Device transferred.', '已转移。'],
  unbind: ['Unbind', '解绑'],
  unbindTitle: ['Unbind this device?', '解绑此设备？'],
  unbindWords: [
    'The serial number becomes free immediately. The device is removed from this application, and any application can bind it. The ownership history is kept.',
    '立即释放设备序列号。设备将从本应用中移除，任何应用都可重新注册。归属记录保留在历史中。',
  ],
  unbound: ['Device unbound. The serial number is free.', '已解绑，设备序列号可重新注册。'],
  force: ['Force-unbind', '强制解绑'],
  forceTitle: ['Force-unbind this device?', '强制解绑此设备？'],
  forceWords: [
    'The serial number becomes free, whichever application owns it at that time. The reason is kept in the event log.',
    '无论届时由哪个应用持有，都立即释放该设备序列号。原因将记入事件日志。',
  ],
})

interface DeviceKey {
  appId: string
  deviceNo: string
}

type Way = 'transfer' | 'unbind' | 'force'

/** The actions by which a device leaves its application. Each explains its effect. */
export function OwnershipActions({ appId, deviceNo }: DeviceKey) {
  const t = useTexts()
  const may = useMay()
  const [way, setWay] = useState<Way>()
  const close = () => setWay(undefined)
  const allWays: Way[] = ['transfer', 'unbind', 'force']
  const operations = { transfer: transferDevice, unbind: unbindDevice, force: forceUnbindDevice }
  const ways = allWays.filter((one) => may(operations[one]))
  if (ways.length === 0) return null
  return (
    <Card title={t('title')}>
      <div className="stacked">
        {ways.map((one) => (
          <div key={one} className="in-a-row">
            <span className="grows-from-240">{t(`${one}Words`)}</span>
            <Button danger={one !== 'transfer'} onClick={() => setWay(one)}>
              {t(one)}
            </Button>
          </div>
        ))}
      </div>
      <Transfer appId={appId} deviceNo={deviceNo} isOpen={way === 'transfer'} onClose={close} />
      <Unbind appId={appId} deviceNo={deviceNo} isOpen={way === 'unbind'} onClose={close} />
      <ForceUnbind appId={appId} deviceNo={deviceNo} isOpen={way === 'force'} onClose={close} />
    </Card>
  )
}

interface DialogProps extends DeviceKey {
  isOpen: boolean
  onClose: () => void
}

function Transfer({ appId, deviceNo, isOpen, onClose }: DialogProps) {
  const t = useTexts()
  const navigate = useNavigate()
  const transfer = useWrite(transferDevice)
  const [targetAppId, setTarget] = useState('')
  return (
    <Confirm
      isOpen={isOpen}
      title={t('transferTitle')}
      verb={t('transfer')}
      isDangerous
      wantsReason
      typed={deviceNo}
      isComplete={targetAppId !== ''}
      run={async (reason) => {
        const moved = await transfer.mutateAsync({ input: { deviceNo, targetAppId, reason } })
        showSuccess(t('transferred'))
        await navigate(paths.device(moved.appId, deviceNo))
      }}
      onClose={() => {
        setTarget('')
        onClose()
      }}
    >
      <p>{t('transferWords')}</p>
      <Form.Item label={t('target')} required htmlFor="transfer-target" className="flush-below">
        <ApplicationPicker id="transfer-target" value={targetAppId} onChange={setTarget} except={appId} />
      </Form.Item>
    </Confirm>
  )
}

function Unbind({ appId, deviceNo, isOpen, onClose }: DialogProps) {
  const t = useTexts()
  const unbind = useWrite(unbindDevice)
  const leave = useLeave(appId)
  return (
    <Confirm
      isOpen={isOpen}
      title={t('unbindTitle')}
      verb={t('unbind')}
      isDangerous
      wantsReason="optional"
      typed={deviceNo}
      run={async (reason) => {
        await unbind.mutateAsync({ input: { appId, deviceNo, reason: reason.trim() === '' ? null : reason } })
        await leave()
      }}
      onClose={onClose}
    >
      <p>{t('unbindWords')}</p>
    </Confirm>
  )
}

function ForceUnbind({ appId, deviceNo, isOpen, onClose }: DialogProps) {
  const t = useTexts()
  const unbind = useWrite(forceUnbindDevice)
  const leave = useLeave(appId)
  return (
    <Confirm
      isOpen={isOpen}
      title={t('forceTitle')}
      verb={t('force')}
      isDangerous
      wantsReason
      typed={deviceNo}
      run={async (reason) => {
        await unbind.mutateAsync({ input: { deviceNo, reason } })
        await leave()
      }}
      onClose={onClose}
    >
      <p>{t('forceWords')}</p>
    </Confirm>
  )
}

/** A device that has left its application no longer has a page there, so this opens the application's devices. */
function useLeave(appId: string): () => Promise<void> {
  const t = useTexts()
  const navigate = useNavigate()
  return async () => {
    showSuccess(t('unbound'))
    await navigate(paths.devices({ appId }))
  }
}

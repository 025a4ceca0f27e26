import { Form } from 'antd'
import { useEffect, useEffectEvent, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { pageDevices } from '../../../src/devices/contract.ts'
import { importDeviceInventory } from '../../../src/devices/inventory/contract.ts'
import { type Binding, getDeviceHistory } from '../../../src/devices/ownership/contract.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { call, useMay } from '../api/api.ts'
import { plainCode } from '../browser/typed.ts'
import { defineTexts } from '../language/index.ts'
import { paths } from '../paths.ts'
import { Dialog } from '../ui/dialog/dialog.tsx'
import { TextItem } from '../ui/form/text-item.tsx'
import { Button } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { countOf } from '../ui/text/number.ts'
import { Owners } from './owners.tsx'
import { useDeviceTexts } from './texts.ts'

const useTexts = defineTexts({
  find: ['Find', '查找'],
  nobody: [
    'No application has or ever had exactly the serial number {{deviceNo}}.',
    '没有任何应用绑定过与“{{deviceNo}}”完全相同的序列号。',
  ],
  parts: ['Serial numbers that contain it: {{count}}.', '序列号中包含它的设备：{{count}} 台。'],
  showParts: ['View devices', '查看这些设备'],
  free: ['{{deviceNo}} is free. No application owns it now.', '{{deviceNo}} 目前未绑定，可由任意应用绑定。'],
  inInventory: ['Search the inventory', '在库存中查找'],
})

interface Found {
  deviceNo: string
  /** How many devices have it as a part of their serial numbers; empty for none. */
  parts: string
  /** Empty for a serial number that was never bound. */
  bindings: Binding[]
}

interface FindSerialProps {
  /** A serial number to search for as soon as the dialog opens. */
  asked: string
  onClose: () => void
}

/** Searches all applications for a serial number. Opens its device if it is bound, else shows its former owners. */
export function FindSerial({ asked, onClose }: FindSerialProps) {
  const devices = useDeviceTexts()
  return (
    <Dialog title={devices('findTitle')} onClose={onClose}>
      <FindForm asked={asked} />
    </Dialog>
  )
}

function FindForm({ asked }: { asked: string }) {
  const t = useTexts()
  const devices = useDeviceTexts()
  const navigate = useNavigate()
  const [found, setFound] = useState<Found>()
  const [error, setError] = useState<ForecourtError>()
  const [isAsking, setAsking] = useState(false)

  async function find(deviceNo: string): Promise<void> {
    setAsking(true)
    setFound(undefined)
    setError(undefined)
    try {
      const { data } = await call(getDeviceHistory, { deviceNo })
      const holder = data.list.find(({ unboundAt }) => unboundAt === null)
      if (holder !== undefined) await navigate(paths.device(holder.appId, deviceNo))
      else setFound({ deviceNo, parts: '', bindings: data.list })
    } catch (refusal) {
      if ((refusal as ForecourtError).code !== 20002) setError(refusal as ForecourtError)
      else setFound({ deviceNo, parts: await countParts(deviceNo), bindings: [] })
    } finally {
      setAsking(false)
    }
  }

  const findAsked = useEffectEvent(() => void find(asked))
  useEffect(() => {
    if (asked !== '') findAsked()
  }, [asked])

  return (
    <>
      <Form<{ deviceNo: string }>
        initialValues={{ deviceNo: asked }}
        layout="vertical"
        onFinish={({ deviceNo }) => void find(plainCode(deviceNo))}
      >
        <RefusalAlert error={error} fieldNames={{ deviceNo: devices('deviceNo') }} />
        <TextItem
          name="deviceNo"
          label={devices('deviceNo')}
          most={lengths.serial}
          isNeeded
          autoFocus
          className="mono"
        />
        <Button type="primary" htmlType="submit" loading={isAsking}>
          {t('find')}
        </Button>
      </Form>
      <div aria-live="polite" className="spaced-above">
        {found && <Result found={found} />}
      </div>
    </>
  )
}

/** How many devices have a text in their serial numbers; empty for none, and where they cannot be counted. */
async function countParts(deviceNo: string): Promise<string> {
  const counted = await call(pageDevices, { deviceNo, pageSize: 1 }).catch(() => undefined)
  if (counted === undefined || counted.data.total === 0) return ''
  return countOf(counted.data)
}

function Result({ found: { deviceNo, parts, bindings } }: { found: Found }) {
  const t = useTexts()
  const devices = useDeviceTexts()
  const may = useMay()
  return (
    <>
      <Note
        type="info"
        words={t(bindings.length === 0 ? 'nobody' : 'free', { deviceNo })}
        action={
          may(importDeviceInventory) && (
            <Link to={paths.models({ tab: 'inventory', deviceNo })}>{t('inInventory')}</Link>
          )
        }
      />
      {parts !== '' && (
        <p>
          {t('parts', { count: parts })} <Link to={paths.devices({ deviceNo })}>{t('showParts')}</Link>
        </p>
      )}
      <p>
        <Link to={paths.refusals({ deviceNo })}>{t('refusals')}</Link>
      </p>
      {bindings.length > 0 && (
        <section className="spaced-above">
          <h2 className="small-heading">{devices('history')}</h2>
          <Owners bindings={bindings} />
        </section>
      )}
    </>
  )
}

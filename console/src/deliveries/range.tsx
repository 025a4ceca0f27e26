import { Alert, Button, DatePicker, Form, Modal, Select } from 'antd'
import dayjs, { type Dayjs } from 'dayjs'
import { replayDeliveries } from '../../../src/deliveries/contract.ts'
import { useWrite } from '../api.ts'
import { grouped } from '../ui/number.ts'
import { useRangePresets } from '../ui/range-filter.tsx'
import { useCommon } from '../ui/texts.ts'
import { ReplayRefusal } from './refusal.tsx'
import { useTexts } from './texts.ts'

const momentFormat = 'YYYY-MM-DD HH:mm:ss'

interface Props {
  appId: string
  isOpen: boolean
  /** The initial values; empty for none. */
  from: string
  to: string
  status: string
  onClose: () => void
}

interface Entered {
  range?: [Dayjs | null, Dayjs | null] | null
  status?: string
}

/** Sends all events of a time range again. Explains this first, and then shows how many it sent. */
export function ReplayRange({ isOpen, onClose, ...form }: Props) {
  const t = useTexts()
  return (
    <Modal
      open={isOpen}
      title={t('replayRange')}
      onCancel={onClose}
      mask={{ closable: false }}
      footer={null}
      destroyOnHidden
    >
      <RangeForm {...form} onClose={onClose} />
    </Modal>
  )
}

const read = (moment: string): Dayjs | null => (moment === '' ? null : dayjs(moment, momentFormat))

function RangeForm({ appId, from, to, status, onClose }: Omit<Props, 'isOpen'>) {
  const t = useTexts()
  const common = useCommon()
  const replay = useWrite(replayDeliveries)
  const presets = useRangePresets(true)

  function run({ range, status: chosen }: Entered): void {
    const [first, last] = range ?? []
    const input = {
      appId,
      timeFrom: first?.format(momentFormat) ?? null,
      timeTo: last?.format(momentFormat) ?? null,
      status: chosen ? (Number(chosen) as 1 | 2 | 3) : null,
    }
    replay.mutate({ input })
  }

  if (replay.data !== undefined) return <Outcome count={replay.data.replayed} onClose={onClose} />
  return (
    <Form<Entered>
      layout="vertical"
      scrollToFirstError={{ focus: true, block: 'center' }}
      initialValues={{ range: [read(from), read(to)], status }}
      onFinish={run}
    >
      <ReplayRefusal
        appId={appId}
        error={replay.error}
        fieldNames={{ timeFrom: common('from'), timeTo: common('to') }}
      />
      <p>{t('rangeText')}</p>
      <Form.Item
        name="range"
        label={t('range')}
        required
        rules={[
          {
            validator: (_, range: Entered['range']) =>
              range?.[0] && range[1] ? Promise.resolve() : Promise.reject(new Error(t('rangeNeeded'))),
          },
        ]}
      >
        <DatePicker.RangePicker
          showTime={{ defaultValue: [dayjs('00:00:00', 'HH:mm:ss'), dayjs('23:59:59', 'HH:mm:ss')] }}
          format={momentFormat}
          presets={presets}
          placeholder={[common('from'), common('to')]}
          // Enter in this field accepts the time; it must not submit the form.
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
          style={{ width: '100%' }}
        />
      </Form.Item>
      <Form.Item name="status" label={t('rangeStatus')} extra={t('rangeStatusText')}>
        <Select
          options={[
            { value: '', label: t('anyStatus') },
            { value: '1', label: t('waiting') },
            { value: '2', label: t('delivered') },
            { value: '3', label: t('dead') },
          ]}
        />
      </Form.Item>
      <div style={{ display: 'flex', gap: 8, justifyContent: 'flex-end' }}>
        <Button onClick={onClose}>{common('cancel')}</Button>
        <Button type="primary" htmlType="submit" loading={replay.isPending}>
          {t('replay')}
        </Button>
      </div>
    </Form>
  )
}

function Outcome({ count, onClose }: { count: number; onClose: () => void }) {
  const t = useTexts()
  const common = useCommon()
  return (
    <>
      <Alert
        type={count > 0 ? 'success' : 'info'}
        showIcon
        role="status"
        title={count > 0 ? t('rangeDone', { count: grouped(count) }) : t('rangeNone')}
        style={{ marginBottom: 16 }}
      />
      <div style={{ textAlign: 'end' }}>
        <Button type="primary" onClick={onClose}>
          {common('close')}
        </Button>
      </div>
    </>
  )
}

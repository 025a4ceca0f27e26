import { Form, Input, Modal } from 'antd'
import { type ReactNode, useState } from 'react'
import { lengths } from '../../../src/vocabulary/values.ts'
import { RefusalAlert } from './refusal.tsx'
import { useCommon } from './texts.ts'

interface ConfirmProps {
  isOpen: boolean
  title: string
  /** What it does, in plain words. */
  children?: ReactNode
  /** The word on the button. */
  verb: string
  isDangerous?: boolean
  /** Asks for a reason, which `run` is given; it may be left empty where it is optional. */
  wantsReason?: boolean | 'optional'
  /** Must be typed before the button works. */
  typed?: string
  /** Whether what the children ask for is there. */
  isComplete?: boolean
  /** Throws its refusal, which is shown, and everything stays as it was. */
  run: (reason: string) => Promise<unknown>
  onClose: () => void
}

/** Asks before something that is hard to undo. */
export function Confirm({
  isOpen,
  title,
  children,
  verb,
  isDangerous = false,
  wantsReason = false,
  typed,
  isComplete = true,
  run,
  onClose,
}: ConfirmProps) {
  const t = useCommon()
  const [reason, setReason] = useState('')
  const [text, setText] = useState('')
  const [error, setError] = useState<Error>()
  const [isRunning, setRunning] = useState(false)
  const isReasonGiven = wantsReason !== true || reason.trim() !== ''
  const isReady = isComplete && isReasonGiven && (typed === undefined || text === typed)

  function close(): void {
    setReason('')
    setText('')
    setError(undefined)
    onClose()
  }

  async function go(): Promise<void> {
    if (!isReady || isRunning) return
    setRunning(true)
    setError(undefined)
    try {
      await run(reason)
      close()
    } catch (refusal) {
      setError(refusal as Error)
    } finally {
      setRunning(false)
    }
  }

  return (
    <Modal
      open={isOpen}
      title={title}
      okText={verb}
      okButtonProps={{ danger: isDangerous, disabled: !isReady, loading: isRunning }}
      cancelText={t('cancel')}
      onOk={() => void go()}
      onCancel={close}
      destroyOnHidden
    >
      <RefusalAlert error={error} />
      {children}
      <Form layout="vertical" style={{ marginTop: 12 }} onFinish={() => void go()}>
        {wantsReason && (
          <Form.Item
            label={t('reason')}
            required={wantsReason === true}
            extra={wantsReason === true ? t('reasonNeeded') : t('reasonKept')}
            htmlFor="confirm-reason"
          >
            <Input.TextArea
              id="confirm-reason"
              maxLength={lengths.reason}
              autoSize={{ minRows: 2 }}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          </Form.Item>
        )}
        {typed !== undefined && (
          <Form.Item label={t('typeToConfirm', { text: typed })} required htmlFor="confirm-typed">
            <Input
              id="confirm-typed"
              autoComplete="off"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </Form.Item>
        )}
      </Form>
    </Modal>
  )
}

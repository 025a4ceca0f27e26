import { Form, Input } from 'antd'
import { type ReactNode, useState } from 'react'
import { useAttempt } from '../../api/api.ts'
import { useCommon } from '../../language/index.ts'
import { ReasonField } from '../form/reason-field.tsx'
import { Button, type ButtonProps } from '../page/button.tsx'
import { RefusalAlert } from '../page/refusal-alert.tsx'
import { Dialog, DialogButtons } from './dialog.tsx'
import { showSuccess } from './feedback.tsx'

interface ConfirmProps {
  isOpen: boolean
  title: string
  /** The effect, in plain words. */
  children?: ReactNode
  /** The label of the button. */
  verb: string
  isDangerous?: boolean
  /** Asks for a reason, which is passed to `run`; an optional one may be empty. */
  wantsReason?: boolean | 'optional'
  /** A text that the user must type to enable the button. */
  typed?: string
  /** The names of fields in a refusal. */
  fieldNames?: Record<string, string>
  /** Whether the inputs among the children are complete. */
  isComplete?: boolean
  /** Runs the action. A refusal that it throws is shown, and the dialog stays open. */
  run: (reason: string) => Promise<unknown>
  /** The message after it. */
  done?: string
  onClose: () => void
}

/** Nobody sees how many spaces a name has, or of what kind, or can type each of them. */
const isSameName = (typed: string, name: string) => asTyped(typed) === asTyped(name)
const asTyped = (text: string) =>
  text
    .normalize('NFC')
    .replace(/[\s\p{Cf}]+/gu, ' ')
    .trim()

/** Asks before an action that is hard to undo. */
export function Confirm({
  isOpen,
  title,
  children,
  verb,
  isDangerous = false,
  wantsReason = false,
  typed,
  fieldNames = {},
  isComplete = true,
  run,
  done,
  onClose,
}: ConfirmProps) {
  const t = useCommon()
  const [reason, setReason] = useState('')
  const [text, setText] = useState('')
  const { attempt, error, setError, isRunning } = useAttempt()
  const isReasonGiven = wantsReason !== true || reason.trim() !== ''
  const isReady = isComplete && isReasonGiven && (typed === undefined || isSameName(text, typed))

  function close(): void {
    setReason('')
    setText('')
    setError(undefined)
    onClose()
  }

  async function go(): Promise<void> {
    if (!isReady || isRunning) return
    await attempt(async () => {
      await run(reason)
      if (done !== undefined) showSuccess(done)
      close()
    })
  }

  return (
    <Dialog
      isOpen={isOpen}
      title={title}
      onClose={close}
      footer={
        <DialogButtons
          verb={verb}
          isDangerous={isDangerous}
          isReady={isReady}
          isRunning={isRunning}
          // Beside “Cancel the change” a button “Cancel” could mean either.
          cancel={verb.startsWith(t('cancel')) ? t('goBack') : t('cancel')}
          run={() => void go()}
          onClose={close}
        />
      }
    >
      <RefusalAlert error={error} fieldNames={fieldNames} />
      {/* Inputs among the children are part of the form, so that Enter confirms there too. */}
      <Form layout="vertical" onFinish={() => void go()}>
        <div className="spaced">{children}</div>
        {wantsReason && (
          <ReasonField id="confirm-reason" value={reason} onChange={setReason} isRequired={wantsReason === true} />
        )}
        {typed !== undefined && (
          <Form.Item
            label={<span className="typed-name">{t('typeToConfirm', { text: typed })}</span>}
            required
            htmlFor="confirm-typed"
          >
            <Input
              id="confirm-typed"
              autoComplete="off"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </Form.Item>
        )}
      </Form>
    </Dialog>
  )
}

export interface ConfirmButtonProps extends Omit<ConfirmProps, 'isOpen' | 'onClose'> {
  /** The look of the button, and its words if they are not the verb. */
  button?: ButtonProps
}

/** A button that asks before it does something. */
export function ConfirmButton({ button, ...question }: ConfirmButtonProps) {
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Button {...button} onClick={() => setAsking(true)}>
        {button?.children ?? question.verb}
      </Button>
      <Confirm {...question} isOpen={isAsking} onClose={() => setAsking(false)} />
    </>
  )
}

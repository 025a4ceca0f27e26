import { CheckCircleFilled, ExclamationCircleFilled } from '@ant-design/icons'
import { type ReactNode, useEffect, useRef } from 'react'
import { useSignal } from '../../browser/hooks.ts'
import { signal } from '../../browser/signal.ts'
import { Button } from '../page/button.tsx'
import { toneOf } from '../page/note.tsx'
import { Dialog, DialogButtons } from './dialog.tsx'

// Messages and questions above a page.

interface Notice {
  key: number
  type: 'success' | 'warning'
  words: string
}

export interface Question {
  title: string
  content: ReactNode
  okText: string
  /** The button that loses nothing; without it there is no choice. */
  cancelText?: string
  onOk?: () => void
  onCancel?: (() => void) | undefined
}

interface Shown {
  notices: readonly Notice[]
  question: Question | undefined
}

const shown = signal<Shown>({ notices: [], question: undefined })
const show = (change: Partial<Shown>) => shown.set({ ...shown.get(), ...change })

let lastKey = 0
const add = (notice: Omit<Notice, 'key'>) => show({ notices: [...shown.get().notices, { key: ++lastKey, ...notice }] })

/** Shows a message of success. */
export const showSuccess = (words: string) => add({ type: 'success', words })

/** Shows a warning, long enough to be read. */
export const showWarning = (words: string) => add({ type: 'warning', words })

/** Shows a question; returns a function that closes it. */
export function showQuestion(question: Question): () => void {
  show({ question })
  return () => {
    if (shown.get().question === question) show({ question: undefined })
  }
}

/** The place of messages and questions; rendered once. */
export function Feedback() {
  const { notices, question } = useSignal(shown)
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (notices.length === 0) return
    // Above a dialog that was opened in the meantime.
    place.current?.hidePopover()
    place.current?.showPopover()
  }, [notices])
  return (
    <>
      <div ref={place} popover="manual" className="notices">
        {notices.map((notice) => (
          <OneNotice key={notice.key} notice={notice} />
        ))}
      </div>
      {question && <Asked {...question} />}
    </>
  )
}

const shownForMs = { success: 3_000, warning: 10_000 }
const icons = { success: <CheckCircleFilled />, warning: <ExclamationCircleFilled /> }

function OneNotice({ notice }: { notice: Notice }) {
  const { type, words } = notice
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const end = () => {
      // Somebody may still be reading it.
      if (!place.current?.matches(':hover')) show({ notices: shown.get().notices.filter((one) => one !== notice) })
    }
    const timer = setInterval(end, shownForMs[notice.type])
    return () => clearInterval(timer)
  }, [notice])
  return (
    <div ref={place} role="alert" style={toneOf(type)}>
      {icons[type]}
      <span>{words}</span>
    </div>
  )
}

function Asked({ title, content, okText, cancelText, onOk, onCancel }: Question) {
  const close = (then?: () => void) => () => {
    show({ question: undefined })
    then?.()
  }
  return (
    <Dialog
      title={title}
      width={416}
      closesOutside={false}
      onClose={close(onCancel)}
      footer={
        cancelText === undefined ? (
          <Button type="primary" onClick={close(onOk)}>
            {okText}
          </Button>
        ) : (
          <DialogButtons verb={okText} cancel={cancelText} run={close(onOk)} onClose={close(onCancel)} />
        )
      }
    >
      {content}
    </Dialog>
  )
}

import { CloseOutlined } from '@ant-design/icons'
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { createPortal } from 'react-dom'
import { useCommon } from '../../language/index.ts'
import './dialog.css'
import { Button } from '../page/button.tsx'

export interface DialogProps {
  isOpen?: boolean
  title: string
  children: ReactNode
  /** The buttons below. */
  footer?: ReactNode
  /** Closes it. Without this there is no cross, and only a button in the dialog closes it. */
  onClose?: (() => void) | undefined
  /** Whether a click beside it closes it too. */
  closesOutside?: boolean
  /** In pixels, as far as the window has them. */
  width?: number
  /** The side of the window along which it stands, in its whole height. */
  side?: 'left' | 'right'
  /** Its children have the title themselves. */
  isBare?: boolean
  className?: string
}

/** A dialog element of the browser: nothing outside of it can be reached, and what had the focus gets it back. */
export function Dialog({ isOpen = true, ...props }: DialogProps) {
  return isOpen && createPortal(<Opened {...props} />, document.body)
}

function Opened({ title, children, footer, onClose, closesOutside = true, width = 520, side, ...more }: DialogProps) {
  const { isBare = false, className = '' } = more
  const t = useCommon()
  const titleId = useId()
  const box = useRef<HTMLDialogElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  const isPressedOutside = useRef(false)
  useLayoutEffect(() => (box.current === null ? undefined : holdFocus(box.current)), [])
  return (
    <dialog
      ref={box}
      tabIndex={-1}
      {...(onClose === undefined && { closedby: 'none' })}
      className={`dialog ${side ?? ''} ${className}`}
      {...(isBare ? { 'aria-label': title } : { 'aria-labelledby': titleId })}
      onPointerDown={({ target }) => {
        isPressedOutside.current = target === box.current
      }}
      onClick={({ target }) => {
        if (closesOutside && isPressedOutside.current && target === box.current) onClose?.()
      }}
      onKeyDownCapture={(event) => {
        // Escape closes the list, and the browser would close the dialog with it.
        if (event.key === 'Escape' && isListOpen(box.current, panel.current)) event.preventDefault()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return
        // The browser itself would close the dialog, also one whose question the user has answered with “Stay”.
        event.preventDefault()
        onClose?.()
      }}
      onCancel={(event) => {
        event.preventDefault()
        if (event.target === box.current) onClose?.()
      }}
    >
      <div ref={panel} className="dialog-panel" style={{ width }}>
        {!isBare && (
          <header className="dialog-head">
            <div id={titleId} className="dialog-title">
              {title}
            </div>
            {onClose && (
              <Button
                type="text"
                className="dialog-close"
                icon={<CloseOutlined />}
                aria-label={t('close')}
                onClick={onClose}
              />
            )}
          </header>
        )}
        <div className="dialog-body">{children}</div>
        {footer && <footer className="dialog-foot">{footer}</footer>}
      </div>
    </dialog>
  )
}

/** Whether a list or a calendar of a field is open: they stand beside the panel. */
function isListOpen(box: HTMLElement | null, panel: HTMLElement | null): boolean {
  const beside = [...(box?.children ?? [])].filter((child) => child !== panel)
  return beside.some((place) => [...place.querySelectorAll('*')].some((one) => one.checkVisibility()))
}

/**
 * Opens a dialog, and puts the focus on its first field; in one without fields, on its first button below, which is the one
 * that does nothing. What has the focus in it may go, such as a form whose result takes its place: the focus then begins
 * anew in the dialog. Returns what closes it.
 */
function holdFocus(box: HTMLDialogElement): () => void {
  const before = document.activeElement
  box.showModal()
  box.focus()
  let isBegun = false
  const begin = () => {
    const present = document.activeElement
    if (present !== document.body && (isBegun || present !== box)) return
    const first = (selector: string) =>
      [...box.querySelectorAll<HTMLElement>(selector)].find((element) => element.checkVisibility())
    const fields = ':is(textarea, input:not([type=radio]), input:checked):enabled'
    const place = first(`.dialog-body ${fields}`) ?? first('.dialog-foot button:enabled')
    isBegun = place !== undefined
    ;(place ?? box).focus({ preventScroll: true })
  }
  begin()
  // Its fields may still be being read.
  const watch = new MutationObserver(begin)
  watch.observe(box, { childList: true, subtree: true })
  return () => {
    watch.disconnect()
    box.close()
    // It may be gone, as the row of a deleted record is.
    if (before?.checkVisibility() !== true) document.getElementById('content')?.focus({ preventScroll: true })
  }
}

interface ButtonsProps {
  verb: string
  run?: () => void
  /** The id of the form that the button submits, as Enter in a field of it does. */
  form?: string
  isRunning?: boolean
  isReady?: boolean
  isDangerous?: boolean
  cancel?: string
  onClose: () => void
}

/** The buttons of a dialog that asks: one does nothing, and one does it. */
export function DialogButtons({ verb, run, form, isReady = true, onClose, ...more }: ButtonsProps) {
  const t = useCommon()
  const { isRunning = false, isDangerous = false, cancel = t('cancel') } = more
  return (
    <>
      <Button onClick={onClose}>{cancel}</Button>
      <Button
        type="primary"
        danger={isDangerous}
        disabled={!isReady}
        loading={isRunning}
        {...(form !== undefined && { htmlType: 'submit', form })}
        {...(run && { onClick: run })}
      >
        {verb}
      </Button>
    </>
  )
}

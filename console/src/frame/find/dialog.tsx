import { type ReactNode, useEffect, useRef } from 'react'
import './find.css'

interface DialogProps {
  label: string
  onClose: () => void
  children: ReactNode
}

/** A dialog element of the browser: it keeps the focus inside, and Escape or a click outside closes it. */
export function Dialog({ label, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const { current } = dialog
    current?.showModal()
    return () => current?.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it
    <dialog
      ref={dialog}
      className="find"
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={({ target }) => {
        if (target === dialog.current) onClose()
      }}
    >
      <div className="find-inner">{children}</div>
    </dialog>
  )
}

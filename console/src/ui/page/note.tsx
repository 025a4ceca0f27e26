import { Alert } from 'antd'
import type { ReactNode } from 'react'

interface NoteProps {
  type: 'info' | 'success' | 'warning' | 'error'
  role?: 'alert' | 'status'
  words: ReactNode
  action?: ReactNode
  /** More about it. */
  children?: ReactNode
}

/** A notice above what it is about. */
export function Note({ type, role = 'alert', words, action, children }: NoteProps) {
  return (
    <Alert type={type} showIcon role={role} className="note" title={words} description={children} action={action} />
  )
}

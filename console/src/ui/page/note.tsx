import { CheckCircleFilled, CloseCircleFilled, ExclamationCircleFilled, InfoCircleFilled } from '@ant-design/icons'
import type { ReactNode } from 'react'

const icons = {
  info: <InfoCircleFilled />,
  success: <CheckCircleFilled />,
  warning: <ExclamationCircleFilled />,
  error: <CloseCircleFilled />,
}

/** The colours of a notice, which the style sheet names. */
export const toneOf = (type: keyof typeof icons) => ({
  '--tone': `var(--ant-color-${type})`,
  '--tone-border': `var(--ant-color-${type}-border)`,
  '--tone-back': `var(--ant-color-${type}-bg)`,
})

interface NoteProps {
  type: keyof typeof icons
  role?: 'alert' | 'status'
  words: ReactNode
  action?: ReactNode
  /** More about it. */
  children?: ReactNode
}

/** A notice above what it is about. */
export function Note({ type, role = 'alert', words, action, children }: NoteProps) {
  return (
    <div role={role} className="note" style={toneOf(type)}>
      {icons[type]}
      <div className="grows">
        <div className={children ? 'note-title' : ''}>{words}</div>
        {children && <div>{children}</div>}
      </div>
      {action}
    </div>
  )
}

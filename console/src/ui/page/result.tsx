import { CloseCircleFilled, ExclamationCircleFilled, InfoCircleFilled } from '@ant-design/icons'
import type { ReactNode } from 'react'

const signs = { error: CloseCircleFilled, warning: ExclamationCircleFilled, info: InfoCircleFilled }

interface ResultProps {
  status: keyof typeof signs
  title: ReactNode
  subTitle?: ReactNode
  /** The actions that are offered. */
  extra?: ReactNode
}

/** A result instead of a whole page or table. It depends on no other chunk, so that it works when one fails to load. */
export function Result({ status, title, subTitle, extra }: ResultProps) {
  const Sign = signs[status]
  return (
    <div className="result">
      <Sign className={`result-${status}`} />
      <div className="result-title">{title}</div>
      <div className="faint">{subTitle}</div>
      {extra}
    </div>
  )
}

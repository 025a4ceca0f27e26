import { CloseCircleFilled, ExclamationCircleFilled, InfoCircleFilled } from '@ant-design/icons'
import type { ReactNode } from 'react'

const signs = { error: CloseCircleFilled, warning: ExclamationCircleFilled, info: InfoCircleFilled }

interface ResultProps {
  status: keyof typeof signs
  title: ReactNode
  subTitle?: ReactNode
  /** What can be done about it. */
  extra?: ReactNode
}

/** What came of something, in the place of a whole page or table. It is drawn also where a part of the console is missing. */
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

import { ReadOutlined } from '@ant-design/icons'
import { type ReactNode, useEffect } from 'react'
import { referenceOf } from '../paths.ts'
import { useCommon } from './texts.ts'

interface PageProps {
  title: string
  /** What stands beside the title: states. */
  beside?: ReactNode
  /** Buttons of what can be done here. */
  actions?: ReactNode
  /** The operation that this page uses above all; linked to the API reference. */
  operation?: { path: string; id: string }
  children: ReactNode
}

/** The frame of every page: its one `h1`, its actions, and the way to the API reference. */
export function Page({ title, beside, actions, operation, children }: PageProps) {
  const t = useCommon()
  useEffect(() => {
    document.title = `${title} · Forecourt`
  }, [title])
  return (
    <div className="page">
      <div className="page-head">
        <h1>{title}</h1>
        {beside}
        <span className="spacer" />
        {actions}
        {operation && (
          <a href={referenceOf(operation)} target="_blank" rel="noreferrer" title={`${operation.path}`}>
            <ReadOutlined aria-hidden /> {t('reference')}
          </a>
        )}
      </div>
      {children}
    </div>
  )
}

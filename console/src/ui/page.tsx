import { ReadOutlined } from '@ant-design/icons'
import { type ReactNode, useEffect } from 'react'
import type { Operation } from '../../../src/vocabulary/operation.ts'
import { referenceOf } from '../paths.ts'
import { useMay } from '../session.tsx'
import { Result } from './result.tsx'
import { useCommon } from './texts.ts'

interface PageProps {
  title: string
  /** What stands beside the title: states. */
  beside?: ReactNode
  /** Buttons of what can be done here. */
  actions?: ReactNode
  /** The operation that this page uses above all; linked to the API reference. */
  operation?: Operation
  /** What one's role must be permitted to see the page at all, where that is not this operation. */
  needs?: Operation
  children: ReactNode
}

/**
 * The frame of every page: its one `h1`, its actions, and the way to the API reference; or that one's role may not see it.
 */
export function Page({ title, beside, actions, operation, needs = operation, children }: PageProps) {
  const t = useCommon()
  const may = useMay()
  const isOpen = needs === undefined || may(needs)
  useEffect(() => {
    document.title = `${title} · Forecourt`
  }, [title])
  return (
    <div className="page">
      <div className="page-head">
        <h1>{title}</h1>
        {beside}
        <span className="spacer" />
        {isOpen && actions}
        {operation && (
          <a href={referenceOf(operation)} target="_blank" rel="noreferrer" title={`${operation.path}`}>
            <ReadOutlined aria-hidden /> {t('reference')}
          </a>
        )}
      </div>
      {isOpen ? children : <Result status="warning" title={t('notPermitted')} />}
    </div>
  )
}

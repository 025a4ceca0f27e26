import { ReadOutlined } from '@ant-design/icons'
import { type ReactNode, useEffect } from 'react'
import { useMatches } from 'react-router'
import type { Operation } from '../../../../src/vocabulary/operation.ts'
import { useMay } from '../../api/api.ts'
import { type Language, useCommon, useLanguage } from '../../language/index.ts'
import { referenceOf } from '../../paths.ts'
import { Result } from './result.tsx'

interface PageProps {
  /** By default, the title in the page's route. */
  title?: string
  /** Elements beside the title, such as a state. */
  beside?: ReactNode
  /** The buttons of the page's actions. */
  actions?: ReactNode
  /** The page's main operation, linked to the API reference. */
  operation?: Operation
  /** The operation that a user must be permitted to see the page, if it is not `operation`. */
  needs?: Operation
  children: ReactNode
}

/**
 * The frame of every page: its only `h1`, its actions, and a link to the API reference; or a notice without permission.
 */
export function Page({ title: own, beside, actions, operation, needs = operation, children }: PageProps) {
  const t = useCommon()
  const may = useMay()
  const title = useTitle(own)
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
        {isOpen && actions && <div className="page-actions">{actions}</div>}
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

interface CardProps {
  title: string
  className?: string
  id?: string
  children: ReactNode
}

/** A part of a page, with its heading. */
export function Card({ title, className = '', id, children }: CardProps) {
  return (
    <section className={`card ${className}`} id={id}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

function useTitle(own: string | undefined): string {
  const language = useLanguage()
  const handle = useMatches().at(-1)?.handle as { title: Record<Language, string> } | undefined
  return own ?? handle?.title[language] ?? ''
}

import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { grouped } from './number.ts'

interface FigureProps {
  name: string
  /** A text instead of a number, such as "more than 1,000". */
  value: number | string | undefined
  /** The address of the rows that are counted. */
  to: string
  /** Whether the number is red if it is not zero. */
  isBad?: boolean
  children?: ReactNode
}

/** A number, with a link to the rows that it counts. */
export function Figure({ name, value, to, isBad = false, children }: FigureProps) {
  const isRed = isBad && value !== undefined && value !== 0
  return (
    <div className="card figure">
      <div className="small">
        <Link to={to}>{name}</Link>
      </div>
      <div
        className="number"
        style={{ fontSize: 28, fontWeight: 600, ...(isRed ? { color: 'var(--bad)' } : {}) }}
        data-testid={`figure-${name}`}
      >
        {/* The name is the link for the keyboard and for screen readers. */}
        <Link to={to} tabIndex={-1} aria-hidden style={{ color: 'inherit' }}>
          {typeof value === 'number' ? grouped(value) : (value ?? '–')}
        </Link>
      </div>
      {children}
    </div>
  )
}

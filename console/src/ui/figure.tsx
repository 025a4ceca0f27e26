import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { grouped } from './number.ts'

interface FigureProps {
  name: string
  /** A text says more than a number: that there are more than these. */
  value: number | string | undefined
  /** Where the rows are. */
  to: string
  /** Red, as soon as there is one. */
  isBad?: boolean
  children?: ReactNode
}

/** One number, and the way to what it counts. */
export function Figure({ name, value, to, isBad = false, children }: FigureProps) {
  const isRed = isBad && value !== undefined && value !== 0
  return (
    <div className="card figure">
      <div style={{ fontSize: 13 }}>
        <Link to={to}>{name}</Link>
      </div>
      <div
        className="number"
        style={{ fontSize: 28, fontWeight: 600, ...(isRed ? { color: 'var(--bad)' } : {}) }}
        data-testid={`figure-${name}`}
      >
        {typeof value === 'number' ? grouped(value) : (value ?? '–')}
      </div>
      {children}
    </div>
  )
}

import { useEffect, useRef } from 'react'
import { Link } from 'react-router'

interface PartsProps<Key extends string> {
  /** Names the row for a screen reader. */
  label: string
  current: Key
  parts: { key: Key; title: string; path: string }[]
}

/** The tabs of a page, each with an address of its own; the row scrolls sideways on a narrow screen. */
export function Parts<Key extends string>({ label, current, parts }: PartsProps<Key>) {
  const row = useRef<HTMLElement>(null)
  useEffect(() => {
    const { current: nav } = row
    // Most rows fit, and need no layout to find it out.
    if (parts.length > 3) nav?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [parts.length])
  return (
    <nav className="parts" aria-label={label} ref={row}>
      {parts.map(({ key, title, path }) => (
        <Link key={key} to={path} aria-current={key === current ? 'page' : undefined}>
          {title}
        </Link>
      ))}
    </nav>
  )
}

import { useEffect, useRef } from 'react'
import { NavLink } from 'react-router'

interface PartsProps {
  label: string
  parts: { key: string; title: string; path: string }[]
}

/** The tabs of a page, each with an address of its own; the row scrolls sideways on a narrow screen. */
export function Parts({ label, parts }: PartsProps) {
  const row = useRef<HTMLElement>(null)
  useEffect(() => {
    row.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [])
  return (
    <nav className="parts" aria-label={label} ref={row}>
      {parts.map(({ key, title, path }) => (
        <NavLink key={key} to={path}>
          {title}
        </NavLink>
      ))}
    </nav>
  )
}

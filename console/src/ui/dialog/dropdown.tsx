import type { DropdownProps } from 'antd'
import { cloneElement, type ReactElement, useState } from 'react'
import { part } from '../page/part.tsx'

interface Props extends DropdownProps {
  /** The button that opens it. */
  children: ReactElement<{ onClick?: () => void; loading?: boolean; 'aria-haspopup'?: 'true' }>
}

const Opened = part(
  async () => (await import('./dropdown-parts.tsx')).OpenedDropdown,
  ({ children }) => children,
)

/** A dropdown below a button. Its code is loaded when it is first opened, because most visits never open one. */
export function Dropdown({ children, ...props }: Props) {
  const [isWanted, setWanted] = useState(false)
  const button = cloneElement(children, {
    'aria-haspopup': 'true',
    ...(!isWanted && { onClick: () => setWanted(true) }),
  })
  if (!isWanted || props.disabled) return button
  return <Opened {...props}>{button}</Opened>
}

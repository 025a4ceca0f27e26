import { Dropdown, type DropdownProps } from 'antd'
import { useEffect, useRef, useState } from 'react'

/** A dropdown that is open when first rendered, with the focus on its button. */
export function OpenedDropdown({ children, ...props }: DropdownProps) {
  const [isOpen, setOpen] = useState(true)
  const place = useRef<HTMLSpanElement>(null)
  useEffect(() => place.current?.querySelector('button')?.focus(), [])
  return (
    <span ref={place}>
      <Dropdown {...props} trigger={['click']} open={isOpen} onOpenChange={setOpen}>
        {children}
      </Dropdown>
    </span>
  )
}

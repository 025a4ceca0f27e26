import { Dropdown, type DropdownProps, type MenuProps } from 'antd'
import { useEffect, useRef, useState } from 'react'

/** A dropdown that is open when first rendered. Its menu has the focus while it is open, and then its button again. */
export function OpenedDropdown({ children, menu, ...props }: DropdownProps) {
  const [isOpen, setOpen] = useState(true)
  const place = useRef<HTMLSpanElement>(null)
  const focusButton = () => place.current?.querySelector('button')?.focus()
  useEffect(focusButton, [])
  const onClick: MenuProps['onClick'] = (chosen) => {
    // A dialog that the item opens gives the focus back to what has it now.
    focusButton()
    menu?.onClick?.(chosen)
    const { domEvent } = chosen
    if (domEvent.type !== 'keydown') return
    // Enter shall click the link in the item, and not the button.
    domEvent.preventDefault()
    domEvent.currentTarget.querySelector('a')?.click()
  }
  return (
    <span ref={place}>
      <Dropdown
        {...props}
        {...(menu && { menu: { ...menu, onClick } })}
        autoFocus
        // The menu begins at its first item each time.
        destroyOnHidden
        trigger={['click']}
        open={isOpen}
        onOpenChange={(isToOpen) => {
          if (!isToOpen && document.activeElement?.closest('.ant-dropdown')) focusButton()
          setOpen(isToOpen)
        }}
      >
        {children}
      </Dropdown>
    </span>
  )
}

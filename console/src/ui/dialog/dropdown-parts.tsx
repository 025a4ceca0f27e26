import { Dropdown, type DropdownProps, type MenuProps } from 'antd'
import { type ReactNode, useEffect, useRef, useState } from 'react'

/** A dropdown that is open when first rendered. Its menu has the focus while it is open, and then its button again. */
export function OpenedDropdown({ children, menu, popupRender, ...props }: DropdownProps) {
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
        popupRender={(items) => <Popup>{popupRender === undefined ? items : popupRender(items)}</Popup>}
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

/** About two seconds: in how many frames the contents of a dropdown come into view. */
const mostFrames = 120

/** What a dropdown shows: its first item, button or field has the focus as soon as it is in view. */
function Popup({ children }: { children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let frame = 0
    const begin = (left: number) => {
      if (place.current?.contains(document.activeElement) || left === 0) return
      const first = '[role="menuitem"]:not([aria-disabled="true"]), :is(button, input):enabled, a[href]'
      place.current?.querySelector<HTMLElement>(first)?.focus()
      // Its code may still be loading, or its place not be measured yet.
      frame = requestAnimationFrame(() => begin(left - 1))
    }
    // The button takes the focus at first.
    frame = requestAnimationFrame(() => begin(mostFrames))
    return () => cancelAnimationFrame(frame)
  }, [])
  return <div ref={place}>{children}</div>
}

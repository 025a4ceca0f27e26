import { Button, type ButtonProps } from 'antd'
import type { MouseEvent } from 'react'
import { useLinkClickHandler } from 'react-router'

/** A link that looks like a button: it can also be opened in another tab. */
export function LinkButton({ to, ...props }: Omit<ButtonProps, 'href' | 'onClick'> & { to: string }) {
  const go = useLinkClickHandler<HTMLAnchorElement>(to)
  return (
    <Button
      {...props}
      href={to}
      onClick={(event) => go(event as MouseEvent<HTMLAnchorElement, globalThis.MouseEvent>)}
    />
  )
}

import { useLinkClickHandler } from 'react-router'
import { ButtonLink, type ButtonLinkProps } from './button.tsx'

/** A link that looks like a button: it can also be opened in another tab. */
export function LinkButton({ to, ...props }: Omit<ButtonLinkProps, 'href' | 'onClick'> & { to: string }) {
  const go = useLinkClickHandler<HTMLAnchorElement>(to)
  return <ButtonLink {...props} href={to} onClick={go} />
}

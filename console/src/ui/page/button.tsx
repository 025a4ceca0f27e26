import { LoadingOutlined } from '@ant-design/icons'
import type { ComponentProps, ReactNode } from 'react'
import { useLinkClickHandler } from 'react-router'

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'type'> {
  type?: 'default' | 'primary' | 'text' | 'link'
  htmlType?: 'button' | 'submit'
  size?: 'small' | undefined
  danger?: boolean
  /** As wide as its place. */
  block?: boolean
  /** Shows that it is at work, and takes no click meanwhile. */
  loading?: boolean
  icon?: ReactNode
}

/** A button of the browser. */
export function Button({ htmlType = 'button', disabled = false, onClick, ...props }: ButtonProps) {
  const { loading = false } = props
  return (
    <button
      {...lookOf(props)}
      type={htmlType}
      disabled={disabled}
      aria-busy={loading || undefined}
      onClick={(event) => {
        if (loading) event.preventDefault()
        else onClick?.(event)
      }}
    />
  )
}

export interface ButtonLinkProps extends ComponentProps<'a'>, Pick<ButtonProps, 'size' | 'danger' | 'block' | 'icon'> {
  type?: ButtonProps['type']
}

/** A link that looks like a button. */
export const ButtonLink = (props: ButtonLinkProps) => <a {...lookOf(props)} />

interface Look extends Pick<ButtonProps, 'type' | 'size' | 'danger' | 'block' | 'loading' | 'icon'> {
  className?: string | undefined
  children?: ReactNode
}

/** The other properties, with the class and the contents that show the look. */
function lookOf<Props extends Look>({
  type,
  size,
  danger,
  block,
  loading,
  icon,
  className,
  children,
  ...props
}: Props) {
  const shownIcon = loading ? <LoadingOutlined /> : icon
  const isIcon = children === undefined && shownIcon !== undefined
  const flags = { 'button-danger': danger, 'button-block': block, 'button-busy': loading, 'button-icon': isIcon }
  const names = Object.entries(flags).flatMap(([name, isSet]) => (isSet ? name : []))
  return {
    ...props,
    className: ['button', `button-${type ?? 'default'}`, size ?? '', ...names, className ?? ''].join(' '),
    children: (
      <>
        {shownIcon}
        {children}
      </>
    ),
  }
}

/** A link that looks like a button: it can also be opened in another tab. */
export function LinkButton({ to, ...props }: Omit<ButtonLinkProps, 'href' | 'onClick'> & { to: string }) {
  const go = useLinkClickHandler<HTMLAnchorElement>(to)
  return <ButtonLink {...props} href={to} onClick={go} />
}

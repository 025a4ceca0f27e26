import { useId } from 'react'
import { Button, type ButtonProps } from '../page/button.tsx'

/**
 * A button that says why it cannot be pressed. It can still get the focus, so that the reason reaches those who use no
 * mouse: a screen reader reads it, and it is shown while the button has the focus or the pointer.
 */
export function HinderedButton({ why, onClick, ...props }: ButtonProps & { why: string | undefined }) {
  const id = useId()
  if (why === undefined) return <Button {...props} {...(onClick && { onClick })} />
  return (
    <span className="hindered">
      <Button {...props} aria-disabled aria-describedby={id} />
      <span id={id} role="tooltip">
        {why}
      </span>
    </span>
  )
}

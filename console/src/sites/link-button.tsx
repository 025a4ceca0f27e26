import { Button, type ButtonProps } from 'antd'
import { useNavigate } from 'react-router'

/** A link that looks like a button: it can also be opened in another tab. */
export function LinkButton({ to, ...props }: Omit<ButtonProps, 'href' | 'onClick'> & { to: string }) {
  const navigate = useNavigate()
  return (
    <Button
      {...props}
      href={to}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        void navigate(to)
      }}
    />
  )
}

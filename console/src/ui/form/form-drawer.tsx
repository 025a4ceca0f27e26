import { Drawer } from 'antd'
import type { ReactNode } from 'react'
import { useLeave } from './leaving.tsx'

interface FormDrawerProps {
  isOpen: boolean
  title: string
  onClose: () => void
  children: ReactNode
}

/** A form in a drawer. Closing the drawer asks first if unsaved input would be lost. */
export function FormDrawer({ isOpen, title, onClose, children }: FormDrawerProps) {
  const leave = useLeave()
  return (
    <Drawer open={isOpen} title={title} onClose={() => leave(onClose)} size="min(720px, 100vw)" destroyOnHidden>
      {children}
    </Drawer>
  )
}

import type { ReactNode } from 'react'
import { Dialog } from '../dialog/dialog.tsx'
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
    <Dialog isOpen={isOpen} title={title} onClose={() => leave(onClose)} side="right" width={720}>
      {children}
    </Dialog>
  )
}

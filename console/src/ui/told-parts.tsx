import { Modal, message } from 'antd'
import { useEffect } from 'react'

export interface Telling {
  message: ReturnType<typeof message.useMessage>[0]
  modal: ReturnType<typeof Modal.useModal>[0]
}

export function ToldParts({ onReady }: { onReady: (telling: Telling) => void }) {
  const [messages, messagePlace] = message.useMessage()
  const [modal, modalPlace] = Modal.useModal()
  useEffect(() => onReady({ message: messages, modal }), [onReady, messages, modal])
  return (
    <>
      {messagePlace}
      {modalPlace}
    </>
  )
}

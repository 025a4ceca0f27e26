import { Modal, message } from 'antd'
import { useEffect } from 'react'

export interface FeedbackApi {
  message: ReturnType<typeof message.useMessage>[0]
  modal: ReturnType<typeof Modal.useModal>[0]
}

export function FeedbackParts({ onReady }: { onReady: (api: FeedbackApi) => void }) {
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

import type { ModalFuncProps } from 'antd'
import { type ComponentType, lazy, Suspense, useEffect, useState } from 'react'
import type { FeedbackApi } from './feedback-parts.tsx'

// Messages and questions above a page. Most visits show none, so the code is loaded when a page may need it.

// If the code fails to load, the message is lost, but not the action, nor the question before it.
const Parts = lazy<ComponentType<{ onReady: (api: FeedbackApi) => void }>>(() =>
  import('./feedback-parts.tsx').then(
    ({ FeedbackParts }) => ({ default: FeedbackParts }),
    () => {
      setApi(undefined)
      return { default: () => null }
    },
  ),
)

let startLoading: () => void = () => {}
let setApi: (api: FeedbackApi | undefined) => void = () => {}
const api = new Promise<FeedbackApi | undefined>((resolve) => {
  setApi = resolve
})

/** Loads the code before there is a message to show. */
export function loadFeedback(): void {
  startLoading()
}

/** Shows a message of success. */
export function showSuccess(words: string): void {
  startLoading()
  void api.then((parts) => parts?.message.success(words))
}

/** Shows a warning, long enough to be read. */
export function showWarning(words: string): void {
  startLoading()
  void api.then((parts) => parts?.message.warning(words, 10))
}

/** Shows a question; returns a function that closes it. */
export function showQuestion(question: ModalFuncProps): () => void {
  startLoading()
  // The focus is on the button that loses nothing.
  const focusable = { autoFocusButton: 'cancel' } as const
  const asked = api.then((parts) => {
    if (parts === undefined) askPlainly(question)
    return { box: parts?.modal.confirm({ focusable, ...question }) }
  })
  return () => void asked.then(({ box }) => box?.destroy())
}

/** Asks in the browser’s own dialog. */
function askPlainly({ title, content, onOk, onCancel }: ModalFuncProps): void {
  const words = [title, content].filter((part) => typeof part === 'string').join('\n')
  if (confirm(words)) onOk?.()
  else onCancel?.()
}

/** The place of messages and questions; rendered once. */
export function Feedback() {
  const [isWanted, setWanted] = useState(false)
  useEffect(() => {
    startLoading = () => setWanted(true)
  }, [])
  return (
    isWanted && (
      <Suspense fallback={null}>
        <Parts onReady={setApi} />
      </Suspense>
    )
  )
}

import type { ModalFuncProps } from 'antd'
import { type ComponentType, lazy, Suspense, useEffect, useState } from 'react'
import type { Telling } from './told-parts.tsx'

// Messages and questions above a page. Most visits show none, so the code is loaded when a page may need it.

// If the code fails to load, the message is lost, but not the action.
const Parts = lazy<ComponentType<{ onReady: (telling: Telling) => void }>>(() =>
  import('./told-parts.tsx').then(
    ({ ToldParts }) => ({ default: ToldParts }),
    () => ({ default: () => null }),
  ),
)

let want: () => void = () => {}
let tellBy: (telling: Telling) => void = () => {}
const telling = new Promise<Telling>((resolve) => {
  tellBy = resolve
})

/** Loads the code before there is a message to show. */
export function getTold(): void {
  want()
}

/** Shows a message of success. */
export function say(words: string): void {
  want()
  void telling.then(({ message }) => message.success(words))
}

/** Shows a question; returns a function that closes it. */
export function ask(question: ModalFuncProps): () => void {
  want()
  const asked = telling.then(({ modal }) => ({ box: modal.confirm(question) }))
  return () => void asked.then(({ box }) => box.destroy())
}

/** The place of messages and questions; rendered once. */
export function Told() {
  const [isWanted, setWanted] = useState(false)
  useEffect(() => {
    want = () => setWanted(true)
  }, [])
  return (
    isWanted && (
      <Suspense fallback={null}>
        <Parts onReady={tellBy} />
      </Suspense>
    )
  )
}

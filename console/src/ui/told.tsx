import type { ModalFuncProps } from 'antd'
import { type ComponentType, lazy, Suspense, useEffect, useState } from 'react'
import type { Telling } from './told-parts.tsx'

// What is said above a page: that something is done, and questions. Most visits end without, so it comes when a page may
// need it.

// Without it, what was done is done all the same.
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

/** Has it loaded before there is something to say. */
export function getTold(): void {
  want()
}

/** Says that something is done. */
export function say(words: string): void {
  want()
  void telling.then(({ message }) => message.success(words))
}

/** Asks something; tells how to take the question back. */
export function ask(question: ModalFuncProps): () => void {
  want()
  const asked = telling.then(({ modal }) => ({ box: modal.confirm(question) }))
  return () => void asked.then(({ box }) => box.destroy())
}

/** Where it is drawn. There is one of it. */
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

import { useEffect, useRef, useState } from 'react'
import { addressOfSignOn, signOnInWindow } from '../account/sign-on.ts'
import { Button } from '../ui/page/button.tsx'

interface SignOnButtonProps {
  name: string
  start: Parameters<typeof addressOfSignOn>[0]
  /** Called before the browser goes to the provider. */
  onLeave?: () => void
  onRefused: (refusal: Error | undefined) => void
  /** If given, the sign-on opens a window of its own, and this is called when it has ended. */
  onEntered?: () => Promise<void>
}

/** Leads to the provider, under the name that the settings give it. */
export function SignOnButton({ name, start, onLeave, onRefused, onEntered }: SignOnButtonProps) {
  const [isRunning, setRunning] = useState(false)
  const stop = useRef(() => {})
  useEffect(() => () => stop.current(), [])
  async function go(): Promise<void> {
    onRefused(undefined)
    try {
      if (onEntered !== undefined) {
        stop.current()
        const waiting = signOnInWindow('signIn', () => void onEntered())
        stop.current = waiting.stop
        return await waiting.begun
      }
      setRunning(true)
      const address = await addressOfSignOn(start)
      onLeave?.()
      location.assign(address)
    } catch (refusal) {
      onRefused(refusal as Error)
      setRunning(false)
    }
  }
  return (
    <Button type="primary" block loading={isRunning} onClick={() => void go()}>
      {name}
    </Button>
  )
}

import { Button } from 'antd'
import { useState } from 'react'
import { addressOfSignOn } from '../account/sign-on.ts'

interface SignOnButtonProps {
  name: string
  start: Parameters<typeof addressOfSignOn>[0]
  /** Called before the browser goes to the provider. */
  onLeave?: () => void
  onRefused: (refusal: Error | undefined) => void
}

/** Leads to the provider, under the name that the settings give it. */
export function SignOnButton({ name, start, onLeave, onRefused }: SignOnButtonProps) {
  const [isRunning, setRunning] = useState(false)
  async function go(): Promise<void> {
    setRunning(true)
    onRefused(undefined)
    try {
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

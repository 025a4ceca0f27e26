import { useState } from 'react'

/** Runs what may be refused, and holds whether it is under way and why it failed. */
export function useAttempt() {
  const [error, setError] = useState<Error>()
  const [isRunning, setRunning] = useState(false)
  async function attempt(run: () => Promise<unknown>): Promise<void> {
    setRunning(true)
    setError(undefined)
    try {
      await run()
    } catch (refusal) {
      setError(refusal as Error)
    } finally {
      setRunning(false)
    }
  }
  return { attempt, error, setError, isRunning }
}

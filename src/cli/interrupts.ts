/**
 * A signal that SIGINT or SIGTERM aborts, for a command that then ends by itself. npm passes on the SIGINT that the
 * terminal has sent to the command already, so the second one must not kill it.
 */
export function untilInterrupted(): AbortSignal {
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => ending.abort())
  return ending.signal
}

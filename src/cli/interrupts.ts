/**
 * A signal that SIGINT or SIGTERM aborts, for a command that then ends by itself. The command gets SIGINT twice under
 * npm, from the terminal and from npm, so the second one must not kill it.
 */
export function untilInterrupted(): AbortSignal {
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => ending.abort())
  return ending.signal
}

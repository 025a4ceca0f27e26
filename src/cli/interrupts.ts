/** The command then ends by itself. Under npm SIGINT comes twice (terminal and npm); neither may kill it. */
export function untilInterrupted(): AbortSignal {
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => ending.abort())
  return ending.signal
}

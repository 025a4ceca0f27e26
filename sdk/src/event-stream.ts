import type { FileAnswer } from './file.ts'

// Server-sent events, as the standard defines them.

/** A block of a stream. */
interface StreamBlock {
  id?: string
  event?: string
  data?: string
  retry?: string
}

/** The service sends something at least every 15 s: a connection that is silent for this long is dead. */
const silentMs = 45_000

/** The blocks of a stream as they arrive. Returns when the stream ends, breaks or is silent: all need a new connection. */
export async function* blocksOf({ body }: FileAnswer): AsyncGenerator<StreamBlock, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const timer = setTimeout(() => void reader.cancel().catch(() => {}), silentMs)
      const { value } = await reader
        .read()
        .catch(() => ({ value: undefined }))
        .finally(() => clearTimeout(timer))
      if (value === undefined) return
      const texts = (rest + decoder.decode(value, { stream: true })).split('\n\n')
      rest = texts.pop() ?? ''
      for (const text of texts) yield blockOf(text)
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function blockOf(text: string): StreamBlock {
  const block: Record<string, string> = {}
  for (const line of text.split('\n')) {
    const [, name, value = ''] = /^([^:]+): ?(.*)$/s.exec(line) ?? []
    if (name !== undefined) block[name] = value
  }
  return block
}

const mostPauseMs = 30_000

/** When to connect again: after the service’s `retry`, and after failures ever later, at different times. */
export class Reconnects {
  private retryMs = 1_000 + Math.random() * 2_000
  private failures = 0

  heed(retry: string): void {
    if (/^\d+$/.test(retry)) this.retryMs = Number(retry)
  }

  succeeded(): void {
    this.failures = 0
  }

  /** The pause before the next attempt, in milliseconds. */
  next(retryAfterSeconds: number | null = null): number {
    const jitter = Math.random() / 4
    const pauseMs = Math.min(mostPauseMs, this.retryMs * 2 ** this.failures)
    const withJitter = this.failures++ === 0 ? pauseMs * (1 + jitter) : pauseMs * (0.75 + jitter)
    return Math.max(withJitter, (retryAfterSeconds ?? 0) * 1000)
  }
}

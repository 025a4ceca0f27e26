import { createInterface } from 'node:readline'
import { newSerial } from '../kit/records.ts'
import { becomesTrue, sleep } from '../kit/waits.ts'

// Keeps many requests of one caller under way, in a process of its own, so that the process that measures others is not
// busy with them. Each loop sends a request, and the next as soon as it has the response; after a refusal it pauses, as a
// client does that obeys Retry-After.
//
// BUN_CONFIG_MAX_HTTP_REQUESTS=LOOPS bun test/faults/flood.ts
//
// Commands come on standard input, one JSON object a line; each is answered with one line.
//   {"begin":[…],"over":100}  sends these requests in turn, over so many loops; answers when each has begun
//   {"stop":true}             hangs up once a response has come; answers with the number of responses by status and code

/** Stands for a new serial number in each request. */
export const freshSerial = 'fresh-serial'

export interface FloodRequest {
  url: string
  init: { method: string; headers: Record<string, string>; body?: string }
}

const refusedPauseMs = 1000
const firstResponseMs = 20_000

function run(): void {
  let abort = new AbortController()
  let answers: Record<string, number> = {}
  const count = (answer: string) => {
    answers[answer] = (answers[answer] ?? 0) + 1
  }
  async function loop(requests: FloodRequest[], from: number, { signal }: AbortController): Promise<void> {
    for (let sent = from; !signal.aborted; sent++) {
      const { url, init } = requests[sent % requests.length] as FloodRequest
      const body = init.body?.replaceAll(freshSerial, () => newSerial())
      try {
        const response = await fetch(url, { ...init, ...(body && { body }), redirect: 'manual', signal })
        const text = await response.text()
        count(`${response.status} ${/"code":(\d+)/.exec(text)?.[1] ?? '-'}`)
        if (response.status >= 400) await sleep(refusedPauseMs)
      } catch {
        if (!signal.aborted) count('none -')
        await sleep(refusedPauseMs)
      }
    }
  }
  createInterface({ input: process.stdin })
    .on('line', async (line) => {
      const { begin, over = 0 } = JSON.parse(line) as { begin?: FloodRequest[]; over?: number }
      // Of requests with 1,000 rows none may have been answered yet.
      if (begin === undefined) await becomesTrue(() => Object.keys(answers).length > 0, firstResponseMs)
      abort.abort()
      process.stdout.write(`${JSON.stringify(answers)}\n`)
      abort = new AbortController()
      answers = {}
      if (begin !== undefined) for (let from = 0; from < over; from++) void loop(begin, from, abort)
    })
    .on('close', () => process.exit())
}

if (import.meta.main) run()

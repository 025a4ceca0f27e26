import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

// Keeps many requests of one caller under way, in a process of its own, so that the process that measures others is not
// busy with them. Each connection sends a request, and the next as soon as it has the response; after a refusal
// it pauses, as a client does that obeys Retry-After.
//
// bun test/faults/flood.ts URL CONNECTIONS
//
// Commands come on standard input, one JSON object a line; each is answered with one line.
//   {"begin":["POST /… HTTP/1.1\r\n…", …],"over":100}  sends these in turn, over so many of its connections; answers
//                                                     when each has sent its first
//   {"stop":true}                                     hangs up; answers with the number of responses by status and code

/** Stands for a new serial number in each request. It is as long as one. */
export const freshSerial = 'fresh-serial-00000'
const freshPrefix = Date.now().toString(36).padStart(9, '0').slice(-9)

const refusedPauseMs = 1000

class Connection {
  private socket: Socket | undefined
  private received = ''
  private isUnderWay = false
  private pausing: ReturnType<typeof setTimeout> | undefined

  private readonly next: () => string | undefined
  private readonly onAnswer: (beginning: string) => void

  constructor(next: () => string | undefined, onAnswer: (beginning: string) => void) {
    this.next = next
    this.onAnswer = onAnswer
  }

  send(): void {
    const request = this.next()
    if (request === undefined) return
    this.socket ??= this.open()
    this.received = ''
    this.isUnderWay = true
    this.socket.write(request, 'latin1')
  }

  hangUp(): void {
    clearTimeout(this.pausing)
    if (!this.isUnderWay) return
    this.isUnderWay = false
    this.socket?.destroy()
    this.socket = undefined
  }

  private open(): Socket {
    const { hostname, port } = new URL(process.argv[2] as string)
    const socket = connect(Number(port), hostname).setEncoding('latin1').setNoDelay(true)
    socket.on('error', () => {})
    socket.on('data', (piece: string) => {
      this.received += piece
      if (this.isUnderWay && isWhole(this.received)) this.answered()
    })
    socket.on('close', () => {
      if (this.socket !== socket) return
      this.socket = undefined
      if (this.isUnderWay) this.answered()
    })
    return socket
  }

  private answered(): void {
    this.isUnderWay = false
    const isRefused = /^HTTP\/1\.1 [45]/.test(this.received)
    this.onAnswer(this.received.slice(0, 1000))
    if (/\r\nconnection: close\r\n/i.test(this.received.slice(0, 1000))) {
      this.socket?.destroy()
      this.socket = undefined
    }
    if (isRefused) this.pausing = setTimeout(() => this.send(), refusedPauseMs)
    else setImmediate(() => this.send())
  }
}

function isWhole(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  const head = text.slice(0, headEnd).toLowerCase()
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1]
  if (length !== undefined) return text.length >= headEnd + 4 + Number(length)
  return !head.includes('transfer-encoding') || text.endsWith('0\r\n\r\n')
}

function run(count: number): void {
  let requests: string[][] = []
  let sent = 0
  let serials = 0
  let answers: Record<string, number> = {}
  const next = () => {
    if (requests.length === 0) return undefined
    const [first = '', ...rest] = requests[sent++ % requests.length] as string[]
    return rest.reduce((text, piece) => text + freshPrefix + (serials++).toString(36).padStart(9, '0') + piece, first)
  }
  const onAnswer = (answer: string) => {
    const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'none'
    const code = /\r\n\r\n(?:[0-9a-f]+\r\n)?.*?"code":(\d+)/s.exec(answer)?.[1] ?? '-'
    answers[`${status} ${code}`] = (answers[`${status} ${code}`] ?? 0) + 1
  }
  const connections = Array.from({ length: count }, () => new Connection(next, onAnswer))
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { begin, over, stop } = JSON.parse(line) as { begin?: string[]; over?: number; stop?: true }
    if (begin !== undefined) {
      requests = begin.map((text) => text.split(freshSerial))
      answers = {}
      sent = 0
      for (const connection of connections.slice(0, over)) connection.send()
      process.stdout.write('{}\n')
    }
    if (stop) {
      requests = []
      for (const connection of connections) connection.hangUp()
      process.stdout.write(`${JSON.stringify(answers)}\n`)
    }
  })
  process.stdin.on('end', () => process.exit())
}

if (import.meta.main) run(Number(process.argv[3]))

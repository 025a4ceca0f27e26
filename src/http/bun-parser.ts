import { createRequire } from 'node:module'

// Node's parser, llhttp, with Node's own binding, because both servers of Bun fall short: `Bun.serve` leaves a request
// unanswered when the next one arrives before its response, and `node:http` takes twice the processor time.

/** Names and values in turn. */
type RawHeaders = string[]

export interface Parser {
  initialize(type: number, resource: object, maxHeadBytes: number, leniency: number): void
  /** Less than all behind a request to change the protocol. */
  execute(bytes: Uint8Array): number | ParseError
  close(): void
}

export type ParseError = Error & { code?: string }

export interface ParserEvents {
  begin(): void
  head(head: ParsedHead): void
  body(bytes: Uint8Array): void
  end(): void
}

export interface ParsedHead {
  version: string
  method: string
  target: string
  headers: RawHeaders
  keepsAlive: boolean
}

type ParserClass = (new () => Parser & Record<number, unknown>) & {
  REQUEST: number
  kOnMessageBegin: number
  kOnHeaders: number
  kOnHeadersComplete: number
  kOnBody: number
  kOnMessageComplete: number
}

const strict = 0

/** Only on Bun: on Node the module is deprecated. */
export function parserMaker(maxHeadBytes: number): (events: ParserEvents) => Parser {
  const { HTTPParser, methods } = createRequire(import.meta.url)('node:_http_common') as {
    HTTPParser: ParserClass
    methods: string[]
  }
  return (events) => {
    const parser = new HTTPParser()
    // A head of more than 31 lines comes in portions; so do trailers, which no operation takes.
    let earlier: RawHeaders = []
    let earlierTarget = ''
    let isInBody = false
    parser.initialize(HTTPParser.REQUEST, {}, maxHeadBytes, strict)
    parser[HTTPParser.kOnMessageBegin] = () => {
      isInBody = false
      events.begin()
    }
    parser[HTTPParser.kOnHeaders] = (headers: RawHeaders, target: string) => {
      if (isInBody) return
      earlier = earlier.concat(headers)
      earlierTarget += target
    }
    parser[HTTPParser.kOnHeadersComplete] = (
      major: number,
      minor: number,
      last: RawHeaders | undefined,
      method: number,
      target: string | undefined,
      _status: unknown,
      _message: unknown,
      _upgrade: boolean,
      keepsAlive: boolean,
    ) => {
      isInBody = true
      const headers = last ?? earlier
      events.head({
        version: `${major}.${minor}`,
        method: methods[method] ?? '',
        target: target || earlierTarget,
        headers,
        keepsAlive,
      })
      earlier = []
      earlierTarget = ''
      return 0
    }
    parser[HTTPParser.kOnBody] = (bytes: Uint8Array) => events.body(bytes)
    parser[HTTPParser.kOnMessageComplete] = () => events.end()
    return parser
  }
}

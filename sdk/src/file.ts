/** A file of rows, as any of these. What is a stream can be sent once, so that such a call is not tried again. */
export type FileInput = string | Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>

const ndjson = 'application/x-ndjson'

/** What a file is sent as: what it says itself, or as its format has it. */
export function mediaTypeOf(file: FileInput, format: unknown): string {
  if (file instanceof Blob && (file.type.startsWith('text/csv') || file.type.startsWith(ndjson))) return file.type
  return format === 'ndjson' ? ndjson : 'text/csv'
}

/** A file that is answered, read as it arrives: once, in one of these ways. */
export class FileAnswer {
  /** The name that it is kept under. */
  readonly name: string
  readonly mediaType: string
  readonly body: ReadableStream<Uint8Array>

  constructor(response: Response) {
    this.name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? ''
    this.mediaType = response.headers.get('content-type') ?? ''
    this.body = (response.body ?? new Blob().stream()) as ReadableStream<Uint8Array>
  }

  /** All of it. Throws when it breaks off. */
  text(): Promise<string> {
    return new Response(this.body as never).text()
  }

  /** Row by row, where it is NDJSON. Throws when it breaks off. */
  async *rows<Row = Record<string, unknown>>(): AsyncGenerator<Row, void> {
    const decoder = new TextDecoder()
    const reader = this.body.getReader()
    let rest = ''
    try {
      for (;;) {
        const { done, value } = await reader.read()
        const lines = (rest + (done ? decoder.decode() : decoder.decode(value, { stream: true }))).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) if (line !== '') yield JSON.parse(line)
        if (!done) continue
        // A file that was saved or sent on may lack its last line feed.
        if (rest.trim() !== '') yield JSON.parse(rest)
        return
      }
    } finally {
      // Who stops early takes no more.
      await reader.cancel().catch(() => {})
    }
  }
}

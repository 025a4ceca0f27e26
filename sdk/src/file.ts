/** What a ReadableStream of the web and one of node:stream/web have in common: to a compiler they differ. */
interface ByteStream {
  readonly locked: boolean
  getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> }
}

/** A file of rows. A call with a stream is not retried, because a stream can be sent only once. */
export type FileInput = string | Blob | Uint8Array<ArrayBuffer> | ByteStream

const ndjson = 'application/x-ndjson'

/**
 * The media type to send a file as: that of a `Blob` if it is CSV or NDJSON, else that of the `format`; with the
 * `charset` if one is named. A string is sent as UTF-8, and its CSV says so, whatever is named: else its bytes might be
 * read in another way.
 */
export function mediaTypeOf(file: FileInput, format: unknown, charset?: string): string {
  if (typeof file === 'string' && format !== 'ndjson') return 'text/csv; charset=utf-8'
  const isTyped = file instanceof Blob && (file.type.startsWith('text/csv') || file.type.startsWith(ndjson))
  const type = isTyped ? file.type : format === 'ndjson' ? ndjson : 'text/csv'
  return charset === undefined ? type : `${type.replace(/;.*/, '')}; charset=${charset}`
}

/** A file in a response, read as it arrives. Read it once: by `body`, `text()` or `rows()`. */
export class FileAnswer {
  /** The file name that the service suggests. */
  readonly name: string
  readonly mediaType: string
  readonly body: ReadableStream<Uint8Array>

  constructor(response: Response) {
    this.name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? ''
    this.mediaType = response.headers.get('content-type') ?? ''
    this.body = (response.body ?? new Blob().stream()) as ReadableStream<Uint8Array>
  }

  /** The whole file. Throws if the connection breaks. */
  text(): Promise<string> {
    return new Response(this.body as never).text()
  }

  /** The rows of an NDJSON file, one by one. Throws if the connection breaks. */
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
      // The caller may stop early: cancelling ends the download.
      await reader.cancel().catch(() => {})
    }
  }
}

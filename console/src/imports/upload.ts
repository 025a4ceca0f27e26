import type { Static } from 'typebox'
import { exchange, type Fetch } from '../../../sdk/src/exchange.ts'
import { createImport, type ImportRecord } from '../../../src/bulk/contract.ts'
import { language } from '../language/index.ts'

type Query = Static<NonNullable<typeof createImport.query>>

/** An upload in progress. */
export interface Upload {
  /** The import; undefined if the upload was cancelled. Rejects with `ForecourtError`. */
  answered: Promise<ImportRecord | undefined>
  cancel: () => void
}

const { id: operation, method, path } = createImport

/** Uploads a file unchanged and reports its progress in bytes, which `fetch` cannot do. */
export function upload(query: Query, file: Blob, mediaType: string, report: (sent: number) => void): Upload {
  const request = new XMLHttpRequest()
  let isCancelled = false
  const send: Fetch = (url) =>
    new Promise((resolve, reject) => {
      request.open(method, url)
      request.setRequestHeader('content-type', mediaType)
      request.setRequestHeader('accept-language', language())
      request.upload.onprogress = ({ loaded }) => report(loaded)
      request.onload = () => resolve(responseOf(request))
      request.onerror = () => reject(new TypeError('no connection'))
      request.onabort = request.onerror
      request.send(file)
    })
  const answered = exchange('', { method, path, takesFile: true }, { ...query, file }, { operation, fetch: send }).then(
    ({ data }) => data as ImportRecord,
    (error: unknown) => {
      if (isCancelled) return undefined
      throw error
    },
  )
  const cancel = () => {
    isCancelled = true
    request.abort()
  }
  return { answered, cancel }
}

/** The response as `fetch` would give it. */
function responseOf(request: XMLHttpRequest): Response {
  const { status, statusText, responseText } = request
  const headers = request
    .getAllResponseHeaders()
    .split('\r\n')
    .filter((line) => line.includes(':'))
    .map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])
  return new Response(responseText === '' ? null : responseText, { status, statusText, headers })
}

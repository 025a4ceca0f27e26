import type { Static } from 'typebox'
import { ForecourtError } from '../../../sdk/src/error.ts'
import { createImport, type ImportRecord } from '../../../src/bulk/contract.ts'
import { language } from '../language/index.ts'
import { envelopeOf } from './envelope.ts'

type Query = Static<NonNullable<typeof createImport.query>>

/** An upload in progress. */
export interface Upload {
  /** The import; undefined if the upload was cancelled. Rejects with `ForecourtError`. */
  answered: Promise<ImportRecord | undefined>
  cancel: () => void
}

/** Uploads a file unchanged and reports its progress in bytes, which `fetch` cannot do. */
export function upload(query: Query, file: Blob, mediaType: string, report: (sent: number) => void): Upload {
  const request = new XMLHttpRequest()
  const given = Object.entries(query).filter(([, value]) => value !== undefined) as [string, string][]
  request.open('POST', `${createImport.path}?${new URLSearchParams(given)}`)
  request.setRequestHeader('content-type', mediaType)
  request.setRequestHeader('accept-language', language())
  request.upload.onprogress = ({ loaded }) => report(loaded)
  const answered = new Promise<ImportRecord | undefined>((resolve, reject) => {
    request.onload = () => {
      const answer = envelopeOf(request.responseText)
      if (answer?.code === 0) resolve(answer.data as ImportRecord)
      else reject(refusalOf(request, answer))
    }
    request.onerror = () => reject(new ForecourtError('no answer', { code: 0, status: 0, operation: 'createImport' }))
    request.onabort = () => resolve(undefined)
  })
  request.send(file)
  return { answered, cancel: () => request.abort() }
}

function refusalOf(request: XMLHttpRequest, answer: ReturnType<typeof envelopeOf>): ForecourtError {
  return new ForecourtError(answer?.msg ?? request.statusText, {
    operation: 'createImport',
    code: answer?.code ?? 0,
    status: request.status,
    errors: (answer?.data as Partial<ForecourtError> | null | undefined)?.errors ?? [],
    requestId: request.getResponseHeader('x-request-id'),
  })
}

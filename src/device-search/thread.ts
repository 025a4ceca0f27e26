import { parentPort, workerData } from 'node:worker_threads'
import { Database } from '../database/database.ts'
import { databaseRefusal } from '../database/failures.ts'
import type { Target } from '../database/open.ts'
import { Refusal } from '../refusals.ts'
import { Copies, type FoundInCopy } from './copies.ts'
import type { Search } from './scan.ts'

// The thread that holds the copies: what takes it milliseconds keeps no request of the service waiting.

export interface ThreadSettings {
  target: Target
  statementTimeoutMs: number
  maxBytes: number
}

export type ThreadRequest =
  | { kind: 'search'; id: number; appId: string; search: Search; canWait: boolean }
  | { kind: 'prepare'; appIds: string[] }

export type ThreadFigures = ReturnType<Copies['figures']>

export type ThreadMessage =
  | { kind: 'found'; id: number; found: FoundInCopy | undefined }
  | { kind: 'failed'; id: number; isAway: boolean; error: ToldError }
  | { kind: 'figures'; figures: ThreadFigures }
  | { kind: 'trouble'; error: ToldError }

/** What the log shows of an error. Errors lose their members on the way between threads. */
type ToldError = Record<'name' | 'message' | 'stack' | 'code', string | undefined>

const lookEveryMs = 250
const afterTroubleMs = 5000

const { target, statementTimeoutMs, maxBytes }: ThreadSettings = workerData
const database = new Database(target, statementTimeoutMs)
const copies = new Copies({ changes: database.open(2), loads: database.open(2) }, maxBytes)
let preparing = Promise.resolve()

function post(message: ThreadMessage): void {
  parentPort?.postMessage(message)
}

function toldError(error: unknown): ToldError {
  const { name, message, stack, code } = error as ToldError
  return { name, message, stack, code }
}

async function search({ id, appId, search, canWait }: Extract<ThreadRequest, { kind: 'search' }>): Promise<void> {
  try {
    post({ kind: 'found', id, found: await copies.search(appId, search, canWait) })
  } catch (error) {
    post({
      kind: 'failed',
      id,
      isAway: error instanceof Refusal || databaseRefusal(error) !== undefined,
      error: toldError(error),
    })
  }
}

/** One after the other: nobody waits for them. */
function prepare(appIds: string[]): void {
  for (const appId of appIds) {
    preparing = preparing
      .then(() => copies.prepare(appId))
      .catch((error) => post({ kind: 'trouble', error: toldError(error) }))
  }
}

parentPort?.on('message', (request: ThreadRequest) => {
  if (request.kind === 'search') void search(request)
  else prepare(request.appIds)
})

async function look(): Promise<void> {
  let pauseMs = lookEveryMs
  try {
    await copies.look()
  } catch (error) {
    post({ kind: 'trouble', error: toldError(error) })
    pauseMs = afterTroubleMs
  }
  post({ kind: 'figures', figures: copies.figures() })
  setTimeout(() => void look(), pauseMs)
}

void look()

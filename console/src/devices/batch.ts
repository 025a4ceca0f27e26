import { useEffect, useRef, useState } from 'react'
import { createDevices } from '../../../src/devices/contract.ts'
import { mostRows } from '../../../src/lists.ts'
import type { ForecourtError } from '../../../src/sdk/error.ts'
import { newIdempotencyKey, useWrite } from '../api.ts'
import { swapped } from '../map/point.ts'
import { useWarningBeforeLeaving } from './leaving.ts'
import { type Draft, type Faults, faultsOf, repeatedSerials, toRegistration } from './rows.ts'
import { portionsOf } from './table-text.ts'

/** What the service said of a row. */
export interface Outcome {
  code: number
  msg: string
  errors: { field: string; reason: string }[]
}

export interface BatchRow {
  id: number
  draft: Draft
  outcome?: Outcome
}

/** What one request sends. The key stays with its rows, so that a request whose answer was lost registers nothing twice. */
interface Portion {
  rows: BatchRow[]
  key: Record<string, string>
}

export interface Progress {
  done: number
  total: number
}

export type Stage = 'faulty' | 'ready' | 'registered' | 'refused'

/** Many devices on their way: rows that are corrected, sent in portions, and told apart by what became of them. */
export function useBatch(appId: string, drafts: readonly Draft[]) {
  const [rows, setRows] = useState<BatchRow[]>(() => drafts.map((draft, id) => ({ id, draft })))
  const [left, setLeft] = useState<Portion[]>([])
  const [progress, setProgress] = useState<Progress>()
  const [error, setError] = useState<ForecourtError>()
  const [isRunning, setRunning] = useState(false)
  const isStopped = useRef(false)
  const create = useWrite(createDevices)
  useWarningBeforeLeaving(isRunning)
  useEffect(
    () => () => {
      isStopped.current = true
    },
    [],
  )

  const repeated = repeatedSerials(rows.map(({ draft }) => draft))
  const waiting = new Set(left.flatMap((portion) => portion.rows.map(({ id }) => id)))

  function faults({ draft, outcome }: BatchRow): Faults {
    const found = faultsOf(draft)
    return outcome === undefined && repeated.has(draft.deviceNo) ? { ...found, deviceNo: 'twice' } : found
  }

  function stageOf(row: BatchRow): Stage {
    if (row.outcome !== undefined) return row.outcome.code === 0 ? 'registered' : 'refused'
    return Object.keys(faults(row)).length === 0 ? 'ready' : 'faulty'
  }

  async function sendPortion({ rows: sent, key }: Portion): Promise<void> {
    const devices = sent.map(({ draft }) => toRegistration(draft))
    const { results } = await create.mutateAsync({ input: { appId, devices }, headers: key })
    const outcomes = new Map<number, Outcome>()
    for (const [index, { code, msg, data }] of results.entries()) {
      const errors = (data as Partial<Outcome> | null)?.errors ?? []
      const id = sent[index]?.id
      if (id !== undefined) outcomes.set(id, { code, msg, errors })
    }
    setRows((before) =>
      before.map((row) => {
        const outcome = outcomes.get(row.id)
        return outcome === undefined ? row : { ...row, outcome }
      }),
    )
  }

  async function run(portions: Portion[], start: Progress): Promise<void> {
    isStopped.current = false
    setRunning(true)
    setError(undefined)
    setProgress(start)
    let unsent = portions
    let { done } = start
    try {
      for (const portion of portions) {
        if (isStopped.current) break
        await sendPortion(portion)
        unsent = unsent.slice(1)
        done += portion.rows.length
        setProgress({ done, total: start.total })
      }
    } catch (refusal) {
      setError(refusal as ForecourtError)
    } finally {
      setLeft(unsent)
      setRunning(false)
    }
  }

  /** Sends every row that is ready. */
  function send(): Promise<void> {
    const ready = rows.filter((row) => stageOf(row) === 'ready')
    const portions = portionsOf(ready, mostRows).map((part) => ({ rows: part, key: newIdempotencyKey() }))
    return run(portions, { done: 0, total: ready.length })
  }

  /** Sends what is left of a run that has stopped, with the same keys. */
  function goOn(): Promise<void> {
    return run(left, progress ?? { done: 0, total: waiting.size })
  }

  /** A refused row that is changed, or is to be tried again as it is, stands for sending again. */
  function change(id: number, changes: Partial<Draft>): void {
    setRows((before) => before.map((row) => (row.id === id ? { id, draft: { ...row.draft, ...changes } } : row)))
  }

  function tryRefusedAgain(): void {
    setRows((before) => before.map((row) => (stageOf(row) === 'refused' ? { id: row.id, draft: row.draft } : row)))
  }

  const isSwapped = (row: BatchRow) => row.outcome === undefined && swapped(row.draft.coordinates) !== undefined
  function swapAll(): void {
    setRows((before) =>
      before.map((row) =>
        isSwapped(row) ? { ...row, draft: { ...row.draft, coordinates: swapped(row.draft.coordinates) ?? '' } } : row,
      ),
    )
  }

  return {
    rows,
    faults,
    stageOf,
    send,
    goOn,
    stop: () => {
      isStopped.current = true
    },
    change,
    tryRefusedAgain,
    swapped: rows.filter(isSwapped).length,
    swapAll,
    isLeft: left.length > 0,
    mayChange: (row: BatchRow) => !isRunning && !waiting.has(row.id) && row.outcome?.code !== 0,
    isRunning,
    progress,
    error,
  }
}

export type Batch = ReturnType<typeof useBatch>

import { useRef, useState } from 'react'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { createDevices } from '../../../src/devices/contract.ts'
import { newIdempotencyKey, useWrite } from '../api/api.ts'
import { type Draft, type Faults, faultsOf, repeatedSerials, toRegistration } from '../imports/row-faults.ts'
import { swapped } from '../map/point.ts'

/** The service's outcome of a row. */
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

export type Stage = 'faulty' | 'ready' | 'registered' | 'refused'

/** A batch of devices to register: the user corrects rows, sends them in one request, and sees each one's outcome. */
export function useBatch(appId: string, drafts: readonly Draft[]) {
  const [rows, setRows] = useState<BatchRow[]>(() => drafts.map((draft, id) => ({ id, draft })))
  const attempt = useRef<{ rows: BatchRow[]; key: Record<string, string> }>(undefined)
  const create = useWrite(createDevices)
  const isRunning = create.isPending

  const repeated = repeatedSerials(rows.map(({ draft }) => draft))

  function faults({ draft, outcome }: BatchRow): Faults {
    const found = faultsOf(draft)
    return outcome === undefined && repeated.has(draft.deviceNo) ? { ...found, deviceNo: 'twice' } : found
  }

  function stageOf(row: BatchRow): Stage {
    if (row.outcome !== undefined) return row.outcome.code === 0 ? 'registered' : 'refused'
    return Object.keys(faults(row)).length === 0 ? 'ready' : 'faulty'
  }

  /** If exactly the same rows are sent again, they keep their key, so that a lost response registers nothing twice. */
  function keyFor(ready: BatchRow[]): Record<string, string> {
    const last = attempt.current
    const isSame = last?.rows.length === ready.length && last.rows.every((row, index) => row === ready[index])
    attempt.current = isSame && last !== undefined ? last : { rows: ready, key: newIdempotencyKey() }
    return attempt.current.key
  }

  /** Sends every row that is ready. */
  async function send(): Promise<void> {
    const ready = rows.filter((row) => stageOf(row) === 'ready')
    const devices = ready.map(({ draft }) => toRegistration(draft))
    try {
      const { results } = await create.mutateAsync({ input: { appId, devices }, headers: keyFor(ready) })
      const outcomes = new Map(
        results.map(({ code, msg, data }, index): [number | undefined, Outcome] => [
          ready[index]?.id,
          { code, msg, errors: (data as Partial<Outcome> | null)?.errors ?? [] },
        ]),
      )
      setRows((before) =>
        before.map((row) => {
          const outcome = outcomes.get(row.id)
          return outcome === undefined ? row : { ...row, outcome }
        }),
      )
    } catch {
      // The mutation holds the error, and the page shows it.
    }
  }

  /** Changes a row. A refused one loses its outcome, so that it is sent again. */
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
    change,
    tryRefusedAgain,
    swapped: rows.filter(isSwapped).length,
    swapAll,
    mayChange: (row: BatchRow) => !isRunning && row.outcome?.code !== 0,
    isRunning,
    error: create.error as ForecourtError | null,
  }
}

export type Batch = ReturnType<typeof useBatch>

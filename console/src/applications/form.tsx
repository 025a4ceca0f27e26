import type { FormInstance } from 'antd'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { ForecourtError } from '../../../src/sdk/client.ts'
import { newIdempotencyKey } from '../api.ts'
import { Conflict } from '../ui/conflict.tsx'
import { RefusalAlert } from '../ui/refusal.tsx'

/** Marks each faulty field of a refusal at the field itself; `callbackEvents[3]` marks the whole of `callbackEvents`. */
export function markFaults(form: Pick<FormInstance, 'setFields'>, error: unknown): void {
  const faults = (error as Partial<ForecourtError>).errors ?? []
  form.setFields(
    faults.map(({ field, reason }) => ({ name: field.replace(/\[.*$|\.\d+.*$/, '').split('.'), errors: [reason] })),
  )
}

/** Lays a newer record into a form; what was typed stays. */
export function takeNewer(form: FormInstance, newer: Record<string, unknown>): void {
  const untouched = Object.entries(newer).filter(([name]) => !form.isFieldTouched(name))
  form.setFieldsValue(Object.fromEntries(untouched))
}

/** One key for each attempt to create, kept for its retries. A key that was used with other content is replaced. */
export function useIdempotencyKey() {
  const key = useRef<Record<string, string>>(undefined)
  return {
    current: (): Record<string, string> => {
      key.current ??= newIdempotencyKey()
      return key.current
    },
    renew: () => {
      key.current = undefined
    },
  }
}

interface FormRefusalProps {
  error: ForecourtError | null
  fieldNames: Record<string, string>
}

/** The refusal of a form, above its buttons, brought into sight wherever the form has been scrolled to. */
export function FormRefusal({ error, fieldNames }: FormRefusalProps) {
  return (
    <InSight of={error}>
      <RefusalAlert error={error} fieldNames={fieldNames} />
    </InSight>
  )
}

function InSight({ of, children }: { of: unknown; children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (of !== null && of !== undefined) place.current?.scrollIntoView({ block: 'center' })
  }, [of])
  return <div ref={place}>{children}</div>
}

interface SaveRefusalProps<Item> extends FormRefusalProps {
  /** The record that the form began with. */
  opened: Item
  readNewer: () => Promise<Item | undefined>
  /** Saves once more, over what was read anew. */
  keepMine: () => void
  /** Lays the newer record into the form. */
  takeTheirs: (newer: Item) => void
}

/** The refusal of a save. What someone else changed meanwhile is shown, and nothing that was typed is lost. */
export function SaveRefusal<Item>({
  error,
  fieldNames,
  opened,
  readNewer,
  keepMine,
  takeTheirs,
}: SaveRefusalProps<Item>) {
  const [read, setRead] = useState<{ after: unknown; item: Item | undefined }>()
  const [isLoading, setLoading] = useState(false)
  // What was read after an earlier refusal is no longer how it is now.
  const now = read?.after === error ? read?.item : undefined
  if (error?.code !== 10009) return <FormRefusal error={error} fieldNames={fieldNames} />

  async function load(): Promise<void> {
    setLoading(true)
    setRead({ after: error, item: await readNewer() })
    setLoading(false)
  }

  return (
    <InSight of={now ?? error}>
      <Conflict
        opened={opened}
        now={now}
        isLoading={isLoading}
        load={() => void load()}
        keepMine={keepMine}
        takeTheirs={() => now !== undefined && takeTheirs(now)}
      />
    </InSight>
  )
}

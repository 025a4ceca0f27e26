import { Form, type FormInstance } from 'antd'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Static, TObject, TSchema } from 'typebox'
import type { ForecourtError } from '../../../../sdk/src/error.ts'
import type { Operation } from '../../../../src/vocabulary/operation.ts'
import { type Input, newIdempotencyKey, useReadTagged } from '../../api/api.ts'
import { useCommon } from '../../language/index.ts'
import { Dialog } from '../dialog/dialog.tsx'
import { showSuccess } from '../dialog/feedback.tsx'
import { Button, LinkButton } from '../page/button.tsx'
import { Unread } from '../page/refusal.tsx'
import { RefusalAlert } from '../page/refusal-alert.tsx'
import { Conflict } from './conflict.tsx'
import { useLeave, useUnsaved } from './leaving.tsx'
import { attemptKeys, changedMembers, conflictsOf, fieldOf, fieldsOf, merged, pick } from './record-rules.ts'

interface Read<Item> {
  data: Item
  etag: string | null
}

/** A record that was read for a form. */
export interface Edited<Item> extends Read<Item> {
  /** Reads it again. */
  readAnew: () => Promise<Read<Item> | undefined>
}

/** Reads a record for its form; shows `instead` until it is loaded. */
export function useEdited<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Operation<Body, Query, Data>,
  input: Input<Body, Query>,
  options: { enabled?: boolean } = {},
): { edited: Edited<Static<Data>> | undefined; instead: ReactNode } {
  const { data, error, refetch } = useReadTagged(operation, input, options)
  const readAnew = async () => (await refetch({ throwOnError: true })).data
  if (data !== undefined) return { edited: { ...data, readAnew }, instead: null }
  const instead = <Unread error={error} refetch={refetch} />
  return { edited: undefined, instead }
}

/** The input of `send`: all values, the changed ones, and the headers that make a retry harmless. */
export interface Sending<Values> {
  values: Values
  changed: Partial<Values>
  headers: Record<string, string>
}

/** The state of a form, for its fields. */
interface FormState {
  /** The reasons in the last refusal, by field path. */
  faults: Record<string, string>
  /** Whether the user tried to send it with faulty fields. */
  wasTried: boolean
}

export interface RecordFormProps<Values extends object, Item, Made> {
  form?: FormInstance<Values>
  /** The record to change; undefined to create one. */
  edited?: Edited<Item> | undefined
  /** The initial values, of every field. */
  valuesOf: (record: Item | undefined) => Values
  /** Sends the form. Throws a refusal, which is shown; returns undefined if the user must answer a question first. */
  send: (sending: Sending<Values>) => Promise<Made | undefined>
  onSaved: (made: Made) => unknown
  /** The message after a success; by default `Saved`. */
  successMessage?: (made: Made) => string
  onRefused?: (refusal: ForecourtError) => void
  /** The label of the button; by default that of saving or creating. */
  verb?: string
  isReady?: boolean
  /** How to leave without saving: the address of a page, or a function that closes the form. */
  back?: string | (() => void)
  /** The names of fields. */
  fieldNames: Record<string, string>
  /** The faulty fields of a refusal that does not name them. */
  faultsOf?: (refusal: ForecourtError) => ForecourtError['errors']
  /** Advice about a refusal, where there is any. */
  advice?: (refusal: ForecourtError) => ReactNode
  children: ReactNode | ((state: FormState) => ReactNode)
}

/**
 * The frame of every form of a record. It saves with `If-Match`, shows changes that someone else has made meanwhile,
 * creates nothing twice if a response is lost, shows faults at their fields, and asks before the user leaves unsaved
 * input.
 */
export function RecordForm<Values extends object, Item, Made>(props: RecordFormProps<Values, Item, Made>) {
  const { edited, valuesOf, verb, isReady = true, back, fieldNames, advice, children } = props
  const t = useCommon()
  const [form] = Form.useForm<Values>(props.form)
  // The state that the form was opened with; a newer one replaces it only when the user chooses so.
  const [base, setBase] = useState(() => ({ read: edited as Read<Item> | undefined, values: valuesOf(edited?.data) }))
  const [newer, setNewer] = useState<Read<Item>>()
  const [refusal, setRefusal] = useState<ForecourtError>()
  const [busy, setBusy] = useState<'sending' | 'reading'>()
  const [wasTried, setTried] = useState(false)
  const [keys] = useState(() => attemptKeys(newIdempotencyKey))
  const isSaved = useRef(false)
  const valuesNow = () => {
    const entered = form.getFieldsValue(true) as Values
    return { ...base.values, ...pick(entered, Object.keys(base.values) as (keyof Values & string)[]) }
  }
  useUnsaved(() => !isSaved.current && changedMembers(base.values, valuesNow()).length > 0)

  async function submit({ read, values: before } = base): Promise<void> {
    if (busy !== undefined) return
    setBusy('sending')
    setRefusal(undefined)
    const values = valuesNow()
    const headers: Record<string, string> = read?.etag ? { 'if-match': read.etag } : keys.current()
    try {
      const made = await props.send({ values, changed: pick(values, changedMembers(before, values)), headers })
      if (made === undefined) return
      await finish(made)
    } catch (error) {
      await showRefusal(error as ForecourtError)
    } finally {
      setBusy(undefined)
    }
  }

  async function finish(made: Made): Promise<void> {
    keys.ended()
    isSaved.current = true
    setRefusal(undefined)
    showSuccess(props.successMessage?.(made) ?? t('saved'))
    await props.onSaved(made)
  }

  async function showRefusal(error: ForecourtError): Promise<void> {
    keys.ended(error.code ?? 0)
    if (error.code === 10009) return readNewer(error)
    setRefusal(error)
    props.onRefused?.(error)
    const faults = props.faultsOf?.(error) ?? error.errors ?? []
    form.setFields(faults.map(({ field, reason }) => ({ name: fieldOf(field) as never, errors: [reason] })))
  }

  async function readNewer(conflict: ForecourtError): Promise<void> {
    setBusy('reading')
    const read = await edited?.readAnew().catch(() => undefined)
    setBusy(undefined)
    // The record has these values already: an earlier save succeeded, and its response was lost.
    if (read !== undefined && changedMembers(valuesOf(read.data), valuesNow()).length === 0) {
      return finish(read.data as unknown as Made)
    }
    setNewer(read)
    setRefusal(conflict)
    props.onRefused?.(conflict)
  }

  function takeOver(read: Read<Item>, wins: 'mine' | 'theirs') {
    const next = { read, values: valuesOf(read.data) }
    form.setFieldsValue(merged(base.values, valuesNow(), next.values, wins) as never)
    setBase(next)
    setNewer(undefined)
    setRefusal(undefined)
    return next
  }

  const faults = Object.fromEntries((refusal?.errors ?? []).map(({ field, reason }) => [field, reason]))
  return (
    <Form<Values>
      form={form}
      layout="vertical"
      initialValues={base.values}
      scrollToFirstError={{ focus: true, block: 'center' }}
      onFinish={() => void submit()}
      onFinishFailed={() => setTried(true)}
      // A changed field is not faulty until it is checked again.
      onValuesChange={(changed) =>
        form.setFields(fieldsOf(changed).map((name) => ({ name: name as never, errors: [] })))
      }
    >
      <InSight of={newer ?? refusal}>
        {refusal?.code === 10009 && base.read !== undefined ? (
          <Conflict
            opened={base.read.data}
            now={newer?.data}
            both={newer === undefined ? [] : conflictsOf(base.values, valuesNow(), valuesOf(newer.data))}
            fieldNames={fieldNames}
            isLoading={busy === 'reading'}
            load={() => void readNewer(refusal)}
            keepMine={() => newer && void submit(takeOver(newer, 'mine'))}
            takeTheirs={() => newer && takeOver(newer, 'theirs')}
          />
        ) : (
          <>
            <RefusalAlert error={refusal} fieldNames={fieldNames} />
            {refusal && advice?.(refusal)}
          </>
        )}
      </InSight>
      {typeof children === 'function' ? children({ faults, wasTried }) : children}
      <div className="buttons">
        <Button type="primary" htmlType="submit" loading={busy === 'sending'} disabled={!isReady}>
          {verb ?? t(edited === undefined ? 'create' : 'save')}
        </Button>
        {back !== undefined && <Back to={back} />}
      </div>
    </Form>
  )
}

/** Scrolls a refusal into view. */
function InSight({ of, children }: { of: unknown; children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (of !== undefined) place.current?.scrollIntoView({ block: 'nearest' })
  }, [of])
  return (
    <div ref={place} className="form-refusal">
      {children}
    </div>
  )
}

function Back({ to }: { to: string | (() => void) }) {
  const t = useCommon()
  const leave = useLeave()
  if (typeof to === 'string') return <LinkButton to={to}>{t('cancel')}</LinkButton>
  return <Button onClick={() => leave(to)}>{t('cancel')}</Button>
}

interface FormDrawerProps {
  isOpen: boolean
  title: string
  onClose: () => void
  children: ReactNode
}

/** A form in a drawer. Closing the drawer asks first if unsaved input would be lost. */
export function FormDrawer({ isOpen, title, onClose, children }: FormDrawerProps) {
  const leave = useLeave()
  return (
    <Dialog isOpen={isOpen} title={title} onClose={() => leave(onClose)} side="right" width={720}>
      {children}
    </Dialog>
  )
}

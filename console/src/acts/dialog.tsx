import { useQueryClient } from '@tanstack/react-query'
import { Form, Input, Radio, Select } from 'antd'
import { useEffect, useState } from 'react'
import { Link } from 'react-router'
import { type ActKind, type ActName, createAct, getAct } from '../../../src/bulk/acts/contract.ts'
import { newIdempotencyKey, readAnew, useRead, useWrite } from '../api/api.ts'
import { isUnderWay, JobFailure, JobProgress } from '../jobs/parts.tsx'
import { paths } from '../paths.ts'
import { RulePicker } from '../pricing/rule-picker.tsx'
import { CountedDialog } from '../ui/dialog/counted-dialog.tsx'
import { ApplicationPicker } from '../ui/filter/filters.tsx'
import { ReasonField } from '../ui/form/reason-field.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { ApplicationLabel } from '../ui/text/application-name.tsx'
import { Facts } from '../ui/text/facts.tsx'
import { grouped } from '../ui/text/number.ts'
import { useDeviceFields, useSiteFields } from '../words/fields.ts'
import { actFilter, ruleTypes, settable } from './filter-values.ts'
import { ActCounts, FilterInWords, useProgressWords } from './parts.tsx'
import { useTexts } from './texts.ts'

interface ActDialogProps {
  kind: ActKind
  appId: string
  values: Record<string, string>
  acts: ActName[]
  onClose: () => void
}

/** What the user has entered. After a change, the rows must be counted again. */
interface Draft {
  act: ActName
  target: string
  reason: string
  member: string
  value: string | number | null
}

/** Asks what to do with everything that matches, counts it, begins the act, and shows its progress. */
export function ActDialog({ kind, appId, values, acts, onClose }: ActDialogProps) {
  const t = useTexts()
  const create = useWrite(createAct)
  const [draft, setDraft] = useState<Draft>({
    act: acts[0] as ActName,
    target: '',
    reason: '',
    member: settable[kind][0],
    value: null,
  })
  const [counted, setCounted] = useState<number>()
  const [headers] = useState(newIdempotencyKey)
  const [begun, setBegun] = useState<number>()
  const wantsReason = draft.act === 'transfer' || draft.act === 'forceUnbind'
  const isReady = (!wantsReason || draft.reason.trim() !== '') && (draft.act !== 'transfer' || draft.target !== '')

  function change(changes: Partial<Draft>): void {
    setDraft({ ...draft, ...changes })
    setCounted(undefined)
  }

  async function send(expectedRows: number | null): Promise<void> {
    const { act, target, reason, member, value } = draft
    const isCount = expectedRows === null
    const input = {
      appId,
      kind,
      act,
      filter: actFilter(values),
      ...(act === 'update' && { set: { [member]: value } }),
      ...(act === 'transfer' && { targetAppId: target }),
      reason: reason.trim() === '' ? null : reason,
      expectedRows,
      dryRun: isCount,
    }
    try {
      const { id, rows } = await create.mutateAsync({ input, ...(!isCount && { headers }) })
      if (id === null) setCounted(rows)
      else setBegun(id)
    } catch {
      // The refusal is shown. The count is dropped, because it may be different now.
      setCounted(undefined)
    }
  }

  return (
    <CountedDialog
      title={t(`dialog_${kind}`)}
      isReady={isReady}
      counted={
        counted === undefined
          ? undefined
          : {
              words: counted === 0 ? t('countedNone') : t('counted', { count: grouped(counted) }),
              isNone: counted === 0,
            }
      }
      count={() => void send(null)}
      isCounting={create.isPending && counted === undefined}
      verb={t('go', { count: grouped(counted ?? 0) })}
      isDangerous={draft.act !== 'update'}
      run={() => void send(counted ?? 0)}
      isRunning={create.isPending}
      error={create.error}
      begun={begun !== undefined && <ActProgress appId={appId} id={begun} />}
      onClose={onClose}
    >
      <Rows kind={kind} appId={appId} values={values} draft={draft} />
      <ActForm kind={kind} appId={appId} acts={acts} draft={draft} change={change} wantsReason={wantsReason} />
    </CountedDialog>
  )
}

/** What the act is for: the application and the filters, and where the rows go. */
function Rows({ kind, appId, values, draft }: Pick<ActDialogProps, 'kind' | 'appId' | 'values'> & { draft: Draft }) {
  const t = useTexts()
  const { act, target } = draft
  return (
    <Facts
      facts={{
        [t('application')]: <ApplicationLabel appId={appId} />,
        [t('filter')]: <FilterInWords appId={appId} kind={kind} filter={actFilter(values)} />,
        ...(act === 'transfer' && target !== '' && { [t('target')]: <ApplicationLabel appId={target} /> }),
      }}
    />
  )
}

interface ActFormProps {
  kind: ActKind
  appId: string
  acts: ActName[]
  draft: Draft
  change: (changes: Partial<Draft>) => void
  wantsReason: boolean
}

function ActForm({ kind, appId, acts, draft, change, wantsReason }: ActFormProps) {
  const t = useTexts()
  return (
    <Form layout="vertical" component="div">
      <Form.Item label={t('act')}>
        <Radio.Group
          value={draft.act}
          onChange={({ target }) => change({ act: target.value })}
          options={acts.map((act) => ({ value: act, label: t(`act_${kind}_${act}` as 'act_sites_update') }))}
        />
      </Form.Item>
      <p>{t(`words_${kind}_${draft.act}` as 'words_sites_update')}</p>
      {draft.act === 'transfer' && (
        <Form.Item label={t('target')} required htmlFor="act-target">
          <ApplicationPicker
            id="act-target"
            except={appId}
            value={draft.target}
            onChange={(target) => change({ target })}
          />
        </Form.Item>
      )}
      {draft.act === 'update' && <MemberFields kind={kind} appId={appId} draft={draft} change={change} />}
      {draft.act !== 'update' && (
        <ReasonField
          id="act-reason"
          value={draft.reason}
          onChange={(reason) => change({ reason })}
          isRequired={wantsReason}
        />
      )}
    </Form>
  )
}

/** The member that an update sets, and its value. */
function MemberFields({ kind, appId, draft, change }: Pick<ActFormProps, 'kind' | 'appId' | 'draft' | 'change'>) {
  const t = useTexts()
  const devices = useDeviceFields()
  const sites = useSiteFields()
  const words = (member: string) => (kind === 'devices' ? devices(member as 'tag') : sites(member as 'contacts'))
  const ruleType = ruleTypes[draft.member]
  return (
    <>
      <Form.Item label={t('field')} htmlFor="act-member">
        <Select
          id="act-member"
          value={draft.member}
          onChange={(member) => change({ member, value: null })}
          options={settable[kind].map((value) => ({ value, label: words(value) }))}
        />
      </Form.Item>
      <Form.Item label={t('value')} extra={t('valueNote')} htmlFor="act-value">
        {ruleType === undefined ? (
          <Input
            id="act-value"
            autoComplete="off"
            value={draft.value ?? ''}
            onChange={({ target }) => change({ value: target.value })}
          />
        ) : (
          <RulePicker
            id="act-value"
            appId={appId}
            ruleType={ruleType}
            label={words(draft.member)}
            value={typeof draft.value === 'number' ? draft.value : null}
            onChange={(value) => change({ value })}
          />
        )}
      </Form.Item>
    </>
  )
}

/** How far an act is, and what became of its rows. */
function ActProgress({ appId, id }: { appId: string; id: number }) {
  const t = useTexts()
  const progressWords = useProgressWords()
  const queries = useQueryClient()
  const [isOver, setOver] = useState(false)
  const { data: act, error } = useRead(getAct, { appId, id }, isOver ? {} : { refetchInterval: 1_000 })
  if (act !== undefined && !isUnderWay(act) && !isOver) setOver(true)
  useEffect(() => {
    // The list behind the dialog shows what the act changed.
    if (isOver) void readAnew(queries)
  }, [isOver, queries])
  if (act === undefined) return <RefusalAlert error={error} />
  return (
    <>
      <JobProgress job={act} label={progressWords(act)} words={progressWords(act)} mayLeave={t('runsWhileYouRead')} />
      <JobFailure job={act} />
      <ActCounts act={act} />
      <p>
        <Link to={paths.act(id)}>{t('showAct')}</Link>
      </p>
    </>
  )
}

import { useState } from 'react'
import { type BillingRuleRecord, getBillingRule, updateBillingRule } from '../../../src/billing-rules/contract.ts'
import {
  cancelPriceChange,
  type PriceChangeRecord,
  undoPriceChange,
} from '../../../src/sites/price-changes/contract.ts'
import { newIdempotencyKey, useRead, useReadTagged, useWrite } from '../api/api.ts'
import type { Terms } from '../pricing/line.ts'
import { TermsInShort } from '../pricing/terms.tsx'
import { Confirm } from '../ui/dialog/confirm.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { grouped } from '../ui/text/number.ts'
import { useTexts } from './texts.ts'
import { useLine } from './use-line.ts'

/** What is asked about: a price change, or the update that brought the present prices of a rule. */
export type Asked =
  | { act: 'cancel'; change: PriceChangeRecord }
  | { act: 'undo'; change: PriceChangeRecord; former?: Terms | undefined }
  | { act: 'undoUpdate'; rule: BillingRuleRecord; since: string; former: Terms }

interface DialogProps<Act extends Asked['act']> {
  asked: Extract<Asked, { act: Act }>
  onClose: () => void
}

/** Asks before a price change is cancelled or undone. */
export function PriceDialog({ asked, onClose }: DialogProps<Asked['act']>) {
  if (asked.act === 'cancel') return <CancelDialog asked={asked} onClose={onClose} />
  if (asked.act === 'undo') return <UndoDialog asked={asked} onClose={onClose} />
  return <UndoUpdateDialog asked={asked} onClose={onClose} />
}

/** Asks before a price change that waits is cancelled. */
function CancelDialog({ asked, onClose }: DialogProps<'cancel'>) {
  const t = useTexts()
  const cancel = useWrite(cancelPriceChange)
  const [headers] = useState(newIdempotencyKey)
  const { appId, id, effectiveTime } = asked.change
  return (
    <Confirm
      isOpen
      title={t('cancelTitle', { time: effectiveTime })}
      verb={t('cancelVerb')}
      isDangerous
      wantsReason
      run={(reason) => cancel.mutateAsync({ input: { appId, id, reason }, headers })}
      done={t('cancelled')}
      onClose={onClose}
    >
      {t('cancelWords')}
    </Confirm>
  )
}

/** Asks before a price change is undone, and says what that puts back. */
function UndoDialog({ asked, onClose }: DialogProps<'undo'>) {
  const t = useTexts()
  const undo = useWrite(undoPriceChange)
  const [headers] = useState(newIdempotencyKey)
  const { appId, id, effectiveTime, billingRuleId, siteCount } = asked.change
  const { former, isRead } = useFormer(asked)
  return (
    <Confirm
      isOpen
      title={t('undoTitle', { time: effectiveTime })}
      verb={t('undo')}
      wantsReason
      isComplete={isRead}
      run={async (reason) => {
        const { siteCount: count, skippedCount } = await undo.mutateAsync({ input: { appId, id, reason }, headers })
        const skipped = grouped(skippedCount ?? 0)
        showSuccess(count === null ? t('undone') : t('undoSkipped', { count: grouped(count), skipped }))
      }}
      onClose={onClose}
    >
      {billingRuleId === null ? (
        <p>{t('undoSites', { count: grouped(siteCount ?? 0) })}</p>
      ) : (
        <PutBack former={former} isRead={isRead} />
      )}
    </Confirm>
  )
}

/** The prices that a rule had before a change. Undefined if that is not known. */
function useFormer({ change, former }: DialogProps<'undo'>['asked']): { former: Terms | undefined; isRead: boolean } {
  const { appId, billingRuleId } = change
  const rule = { appId, id: billingRuleId ?? 0 }
  const options = { enabled: former === undefined && billingRuleId !== null }
  const read = useRead(getBillingRule, rule, options)
  const { line, error } = useLine(rule, read.data, options)
  const isRead = !options.enabled || line !== undefined || (read.error ?? error) !== null
  const place = line?.held.findIndex((entry) => entry.change?.id === change.id) ?? -1
  return { former: former ?? (place < 0 ? undefined : line?.held[place + 1]?.terms), isRead }
}

function PutBack({ former, isRead = true }: { former: Terms | undefined; isRead?: boolean }) {
  const t = useTexts()
  if (!isRead) return <Loading />
  if (former === undefined) return <p>{t('undoUnknown')}</p>
  return (
    <>
      <p>{t('undoTerms')}</p>
      <TermsInShort terms={former} />
    </>
  )
}

/** Asks before another update restores the prices that a rule had before its last update. */
function UndoUpdateDialog({ asked: { rule, since, former }, onClose }: DialogProps<'undoUpdate'>) {
  const t = useTexts()
  const update = useWrite(updateBillingRule)
  const { appId, id } = rule
  // Read with its tag, so that a change that somebody makes meanwhile is not overwritten.
  const { data } = useReadTagged(getBillingRule, { appId, id })
  const { periods, ...terms } = former
  return (
    <Confirm
      isOpen
      title={t('undoTitle', { time: since })}
      verb={t('undo')}
      isComplete={data !== undefined}
      run={async () => {
        const headers: Record<string, string> = data?.etag ? { 'if-match': data.etag } : {}
        await update.mutateAsync({ input: { appId, id, ...(periods === null ? terms : { periods }) }, headers })
        showSuccess(t('undone'))
      }}
      onClose={onClose}
    >
      <PutBack former={former} />
    </Confirm>
  )
}

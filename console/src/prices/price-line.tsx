import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { type BillingRuleRecord, updateBillingRule } from '../../../src/billing-rules/contract.ts'
import {
  cancelPriceChange,
  type PriceChangeRecord,
  undoPriceChange,
} from '../../../src/sites/price-changes/contract.ts'
import { useMay } from '../api/api.ts'
import { paths } from '../paths.ts'
import { areSame, type LineEntry, type Terms } from '../pricing/line.ts'
import { Button } from '../ui/page/button.tsx'
import { part } from '../ui/page/part.tsx'
import { Unread } from '../ui/page/refusal.tsx'
import { Actor } from '../ui/text/actor.tsx'
import type { Asked } from './dialogs.tsx'
import { Countdown, PriceEntry } from './parts.tsx'
import { useTexts } from './texts.ts'
import { useLine } from './use-line.ts'

const PriceDialog = part(async () => (await import('./dialogs.tsx')).PriceDialog)

/** The most past entries that the timeline shows. */
const mostPast = 8
const refreshEvery = 30_000

/** The timeline of a rule's prices, the latest on top: waiting, present and past ones. */
export function PriceLine({ rule }: { rule: BillingRuleRecord }) {
  const t = useTexts()
  const { appId, id } = rule
  const { line, changes, error } = useLine(rule, rule, { refetchInterval: refreshEvery, live: appId })
  const [asked, setAsked] = useState<Asked>()
  return (
    <section className="card">
      <div className="on-a-line">
        <h2 className="grows">{t('line')}</h2>
        <Link to={paths.priceChanges({ appId, billingRuleId: id })}>{t('title')}</Link>
        <Link to={paths.events({ tab: 'feed', appId, billingRuleId: id })}>{t('history')}</Link>
      </div>
      {line === undefined ? <Unread error={error} /> : <Entries rule={rule} {...line} ask={setAsked} />}
      <Given changes={changes} />
      {asked && <PriceDialog asked={asked} onClose={() => setAsked(undefined)} />}
    </section>
  )
}

interface EntriesProps {
  rule: BillingRuleRecord
  waiting: LineEntry[]
  held: LineEntry[]
  cancelled: LineEntry[]
  ask: (asked: Asked) => void
}

function Entries({ rule, waiting, held, cancelled, ask }: EntriesProps) {
  const t = useTexts()
  const may = useMay()
  const [now, ...past] = held
  if (now === undefined) return null
  const [before] = past
  const since = now.since ?? ''
  // The service refuses to undo what changed nothing (40006).
  const isUndoable = before === undefined || !areSame(now.terms, before.terms)
  return (
    <>
      <ol className="price-line">
        {waiting.toReversed().map((entry, index, all) => (
          <Entry
            key={entry.key}
            entry={entry}
            former={(all[index + 1] ?? now).terms}
            state="waits"
            heading={t('waits', { time: entry.since ?? '' })}
          >
            {entry.change !== null && may(cancelPriceChange) && (
              <AskButton
                words={t('cancel')}
                label={t('cancelOf', { time: entry.since ?? '' })}
                ask={() => entry.change && ask({ act: 'cancel', change: entry.change })}
              />
            )}
          </Entry>
        ))}
        <Entry
          entry={now}
          former={before?.terms}
          state="holds"
          heading={now.since === null ? t('holdsNow') : t('holds', { time: since })}
        >
          {now.change !== null && isUndoable && may(undoPriceChange) && (
            <AskButton
              words={t('undo')}
              label={t('undoOf', { time: since })}
              ask={() => now.change && ask({ act: 'undo', change: now.change, former: before?.terms })}
            />
          )}
          {/* Without a time, what brought these prices is not read yet. */}
          {now.change === null && now.since !== null && before !== undefined && may(updateBillingRule) && (
            <AskButton
              words={t('undo')}
              label={t('undoOf', { time: since })}
              ask={() => ask({ act: 'undoUpdate', rule, since, former: before.terms })}
            />
          )}
        </Entry>
        {past.slice(0, mostPast).map((entry, index) => (
          <Entry
            key={entry.key}
            entry={entry}
            former={past[index + 1]?.terms}
            state="held"
            heading={t('held', { time: entry.since ?? '' })}
          />
        ))}
      </ol>
      {cancelled.length > 0 && (
        <>
          <h3 className="price-use">{t('neverHeld')}</h3>
          <ol className="price-line">
            {cancelled.slice(0, mostPast).map((entry) => (
              <Entry key={entry.key} entry={entry} state="held" heading={t('waits', { time: entry.since ?? '' })} />
            ))}
          </ol>
        </>
      )}
    </>
  )
}

interface EntryProps {
  entry: LineEntry
  former?: Terms | undefined
  state: 'waits' | 'holds' | 'held'
  heading: string
  children?: ReactNode
}

function Entry({ entry: { terms, actor, reason, change }, former, state, heading, children }: EntryProps) {
  const t = useTexts()
  return (
    <PriceEntry
      state={state}
      heading={heading}
      at={state === 'waits' ? change?.effectiveAt : undefined}
      buttons={children}
      terms={terms}
      former={former}
      by={
        <>
          {actor !== null && <Actor actor={actor} />}
          {change !== null && ` · ${t('scheduledAt', { time: change.createTime })}`}
          {change?.undoOf != null && ` · ${t('undoes', { id: change.undoOf })}`}
          {change?.cancelTime != null && (
            <div>
              {t('cancelledAt', { time: change.cancelTime })}{' '}
              {change.cancelledBy && <Actor actor={change.cancelledBy} />}
            </div>
          )}
          {/* Of a change that was cancelled, the record has the reason of that. */}
          {reason !== null && ` · ${reason}`}
        </>
      }
    />
  )
}

function AskButton({ words, label, ask }: { words: string; label: string; ask: () => void }) {
  return (
    <Button size="small" aria-label={label} onClick={ask}>
      {words}
    </Button>
  )
}

/** Price changes that wait to give the rule to sites. */
function Given({ changes }: { changes: readonly PriceChangeRecord[] }) {
  const t = useTexts()
  const giving = changes.filter(({ billingRuleId, status }) => billingRuleId === null && status === 1)
  return giving.map(({ appId, id, effectiveTime, effectiveAt, siteCount }) => (
    <p key={id}>
      <span className="number">{t('waits', { time: effectiveTime })}</span> <Countdown at={effectiveAt} />:{' '}
      <Link to={paths.priceChanges({ appId, status: 1 })}>{t('givesRule', { count: siteCount ?? 0 })}</Link>
    </p>
  ))
}

import type { JobFailure } from '../../bulk/jobs/failure/contract.ts'
import type { RecordCode } from '../../vocabulary/findings.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import type { FindingRecord } from '../contract.ts'
import { type Finding, showFinding, withoutFailure } from '../findings.ts'
import type { LastCount } from './store.ts'

type Values = Finding['values']

interface Row {
  code: RecordCode | Finding['code']
  status: 'warn' | 'fail'
  values: Values
}

function whyOf(failure: JobFailure | null): Values {
  if (failure === null) return {}
  const { kind: why, ...rest } = failure
  return { why, ...rest }
}

/** Failures first. */
export function attentionOf(
  last: Pick<LastCount, 'troubles' | 'unreachable' | 'failedJobs'>,
  around: readonly Finding[],
  { isAdmin }: { isAdmin: boolean },
): FindingRecord[] {
  const shown = (instant: string | null) => instant && showMoment(new Date(instant))
  const rows: Row[] = [
    ...around.flatMap((finding) => {
      const { code, status, values } = isAdmin ? finding : withoutFailure(finding)
      return status === 'ok' ? [] : [{ code, status, values }]
    }),
    ...last.troubles.flatMap((trouble): Row[] => {
      const { appId, appName, devicesFaulty, callbacksDead } = trouble
      const row = (code: RecordCode, status: Row['status'], values: Values): Row => ({
        code,
        status,
        values: { appId, appName, ...values },
      })
      const stopped = { since: shown(trouble.callbackStoppedSince), reason: trouble.callbackStoppedReason }
      const failing = { since: shown(trouble.callbackFailingSince), reason: trouble.callbackFailingReason }
      return [
        ...(trouble.isCallbackStopped ? [row('callbackStopped', 'fail', stopped)] : []),
        ...(failing.since === null ? [] : [row('callbackFailing', 'fail', failing)]),
        ...(callbacksDead > 0 ? [row('callbackDead', 'warn', { count: callbacksDead })] : []),
        ...(devicesFaulty > 0 ? [row('deviceFaulty', 'warn', { count: devicesFaulty })] : []),
      ]
    }),
    ...last.unreachable.map(
      ({ gatesFaulty, ...site }): Row => ({
        code: 'siteUnreachable',
        status: 'fail',
        values: { ...site, count: gatesFaulty },
      }),
    ),
    ...last.failedJobs.map(
      ({ id, appId, appName, act, kind, finishedAt, error, failure }): Row => ({
        code: act === null ? 'importFailed' : 'actFailed',
        status: 'warn',
        values: { id, appId, appName, act, kind, since: shown(finishedAt), reason: error, ...whyOf(failure) },
      }),
    ),
  ]
  return rows.sort((a, b) => Number(a.status === 'warn') - Number(b.status === 'warn')).map((row) => showFinding(row))
}

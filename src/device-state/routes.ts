import { requireMeantApplication } from '../applications/store.ts'
import { GroupCommit } from '../database/group-commit.ts'
import { deviceText, showDevice } from '../devices/rules.ts'
import { type Handler, handle, JsonText } from '../http/serve.ts'
import { laneOptions, type Platform, showQueue } from '../platform.ts'
import { Refusal } from '../refusals.ts'
import { reportDeviceState } from './contract.ts'
import { applyReport, isSameState, presenceTimes, type StateReport } from './rules.ts'
import { changeStates, findDevices, type KnownDevice, type StateChange, touchPresence } from './store.ts'

interface Submission {
  appId: string
  deviceNo: string
  actor: string
  report: StateReport
}

/** `again`: the device was changed between being read and being written; read it again. */
type Outcome = { record: string } | { refusal: 'deviceNotFound' } | { again: true }

export function deviceStateRoutes(platform: Platform): Handler[] {
  const { sql, config, stateWriter, showMoment } = platform
  const { refreshMs } = presenceTimes(config.presenceSeconds)

  const lane: GroupCommit<Submission, Outcome> = new GroupCommit({
    ...laneOptions(platform, 'states'),
    claims: ({ deviceNo }) => [deviceNo],
    async write(submissions) {
      const serials = submissions.map(({ deviceNo }) => deviceNo)
      const known = await stateWriter.run((pool) => findDevices(pool, serials))
      const now = new Date()
      const composed = submissions.map((submission) => compose(submission, known.get(submission.deviceNo)))
      const changes = composed.flatMap(({ change }) => change ?? [])
      const stale = composed.flatMap(({ known, change }) =>
        known !== undefined && change === undefined && isStale(known, now) ? [known.device] : [],
      )
      const changed =
        changes.length === 0 ? new Set() : await stateWriter.run((pool) => changeStates(pool, changes, now))
      if (stale.length > 0) await stateWriter.run((pool) => touchPresence(pool, stale, now))
      return composed.map(({ known, change, record }) => {
        if (known === undefined) return { refusal: 'deviceNotFound' }
        return change === undefined || changed.has(change.deviceNo) ? { record } : { again: true }
      })
    },
  })

  showQueue(platform, 'states', lane)

  /** A report that changes nothing has no change, and a serial that is not the application's is not known to it. */
  function compose({ appId, deviceNo, actor, report }: Submission, found: KnownDevice | undefined) {
    if (found?.device.appId !== appId) return { known: undefined, change: undefined, record: '' }
    const state = applyReport(found.device, report, found.isTimedOut)
    const record = deviceText(showDevice({ ...found.device, ...state }, showMoment))
    if (isSameState(found.device, state)) return { known: found, change: undefined, record }
    const { rowVersion } = found
    const change: StateChange = { ...state, appId, deviceNo, actor, rowVersion, silentSince: null, record }
    return { known: found, change, record }
  }

  function isStale({ device, reportedAt }: KnownDevice, now: Date): boolean {
    return device.onlineStatus === 1 && (reportedAt === null || now.getTime() - reportedAt.getTime() > refreshMs)
  }

  return [
    handle(reportDeviceState, async ({ caller, actor, body }) => {
      const { appId: named, deviceNo, ...report } = body
      const appId = await requireMeantApplication(sql, caller, named)
      const since = performance.now()
      for (;;) {
        const outcome = await lane.submit({ appId, deviceNo, actor, report }, since)
        if ('record' in outcome) return new JsonText(outcome.record)
        if ('refusal' in outcome) throw new Refusal(outcome.refusal)
      }
    }),
  ]
}

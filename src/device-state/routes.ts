import type { CallerCache } from '../callers/cache.ts'
import type { Caller } from '../callers/caller.ts'
import { requireApplicationOf } from '../callers/permissions.ts'
import type { Config } from '../config.ts'
import type { OpenLane } from '../database/lanes.ts'
import type { Sql } from '../database/open.ts'
import { deviceText, showDevice } from '../devices/rules.ts'
import { type Handler, handle, JsonText } from '../http/serve.ts'
import type { ShowMoment } from '../moments.ts'
import { Refusal } from '../refusals.ts'
import { reportDeviceState } from './contract.ts'
import { changeStates, type StateChange } from './routine.ts'
import { applyReport, isSameState, presenceTimes, type StateReport } from './rules.ts'
import { findDevices, findRevokedApplications, type KnownDevice, touchPresence } from './store.ts'

interface Submission {
  caller: Caller
  appId: string
  deviceNo: string
  actor: string
  report: StateReport
}

/** `alive`: nothing but a sign of life is to be kept. */
type Write = 'nothing' | 'change' | 'alive'

interface Composed {
  known: KnownDevice | undefined
  write: Write
  change: StateChange | undefined
  record: string
}

/**
 * `again`: the device was changed between being read and being written; read it again. `unsure`: a caller of the
 * application has lost its access; look whether this one has.
 */
type Outcome = { record: string } | { refusal: 'deviceNotFound' } | { again: true } | { unsure: true }

interface Parts {
  sql: Sql
  /** For the lane's batches, which creates never wait behind. */
  writer: Sql
  openLane: OpenLane
  callers: CallerCache
  config: Pick<Config, 'presenceSeconds'>
  showMoment: ShowMoment
}

export function deviceStateRoutes({ sql, writer, openLane, callers, config, showMoment }: Parts): Handler[] {
  const { refreshMs } = presenceTimes(config.presenceSeconds)

  const lane = openLane<Submission, Outcome>('states', {
    claims: ({ deviceNo }) => [deviceNo],
    async write(submissions) {
      const serials = submissions.map(({ deviceNo }) => deviceNo)
      const callers = submissions.map(({ caller }) => caller)
      const [known, revoked] = await Promise.all([
        findDevices(writer, serials, refreshMs),
        // Signs of life take no lock under which this could be looked at.
        findRevokedApplications(writer, callers),
      ])
      const now = new Date()
      const composed = submissions.map((submission) =>
        revoked.has(submission.appId) ? undefined : compose(submission, known.get(submission.deviceNo)),
      )
      const changes = composed.flatMap((one) => one?.change ?? [])
      const alive = composed.flatMap((one) => (one?.write === 'alive' && one.known ? [one.known.device] : []))
      const written = new Set<string>()
      const write = async (count: number, statement: (pool: Sql) => Promise<string[]>) => {
        if (count > 0) for (const deviceNo of await statement(writer)) written.add(deviceNo)
      }
      await write(changes.length, (pool) => changeStates(pool, changes, callers, now))
      await write(alive.length, (pool) => touchPresence(pool, alive))
      return composed.map((one) => {
        if (one === undefined) return { unsure: true }
        const { known, write, record } = one
        if (known === undefined) return { refusal: 'deviceNotFound' }
        return write === 'nothing' || written.has(known.device.deviceNo) ? { record } : { again: true }
      })
    },
  })

  /** What a report makes of a device. A serial that is not the application's is not known to it. */
  function compose({ appId, deviceNo, actor, report }: Submission, found: KnownDevice | undefined): Composed {
    if (found?.device.appId !== appId) return { known: undefined, write: 'nothing', change: undefined, record: '' }
    const state = applyReport(found.device, report)
    const record = deviceText(showDevice({ ...found.device, ...state }, showMoment))
    const { rowVersion, isSignOld } = found
    if (isSameState(found.device, state)) {
      return { known: found, write: isSignOld ? 'alive' : 'nothing', change: undefined, record }
    }
    const sign = state.onlineStatus === 2 ? 'gone' : isSignOld === false ? null : 'alive'
    const { boundAt } = found.device
    const change: StateChange = { ...state, appId, deviceNo, boundAt, actor, rowVersion, sign, record }
    return { known: found, write: 'change', change, record }
  }

  return [
    handle(reportDeviceState, async ({ caller, actor, body }) => {
      const { appId: named, deviceNo, ...report } = body
      const appId = await requireApplicationOf(sql, caller, named)
      const since = performance.now()
      for (;;) {
        const outcome = await lane.submit({ caller, appId, deviceNo, actor, report }, since)
        if ('record' in outcome) return new JsonText(outcome.record)
        if ('refusal' in outcome) throw new Refusal(outcome.refusal)
        if ('unsure' in outcome) await callers.requireAccess(caller)
      }
    }),
  ]
}

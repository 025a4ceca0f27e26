import { requireMeantApplication } from '../applications/store.ts'
import type { Sql } from '../database/open.ts'
import { countedRows, type PageOf, type PageWish, readWish, toPage } from '../database/page.ts'
import { type DeviceRecord, pageDevices } from '../devices/contract.ts'
import { showDevice } from '../devices/rules.ts'
import { toDevice } from '../devices/store.ts'
import { type Handler, read } from '../http/serve.ts'
import type { Platform } from '../platform.ts'
import { given, readBbox } from '../values.ts'
import { type DeviceFilter, fits, isIndexed } from './rules.ts'
import { countDevices, type DeviceRow, deviceKey, readFound, walkDevices } from './store.ts'

/** Where devices that were found do not fit any more once they are read, so many more are found in their place. */
const spareRows = 100
/** How long a page that the index finds too is waited for: the thread may have many searches to do before. */
const patienceMs = 100

export function deviceSearchRoutes({ config, searcher, showMoment, readMoment }: Platform): Handler[] {
  /** Whether the application is so large that walking along its devices would take too long. */
  async function isLarge(sql: Sql, appId: string): Promise<boolean> {
    return (await countDevices(sql, appId, config.searchFrom)) === config.searchFrom
  }

  /** What the copy finds, as the database has it now: what has changed in between is looked at anew. */
  async function tryCopy(sql: Sql, appId: string, filter: DeviceFilter, wish: PageWish, limit: number) {
    const [boundMicros, deviceNo] = wish.after ?? []
    const after = deviceNo === undefined ? null : { boundMicros: Number(boundMicros), deviceNo }
    const search = { filter, after, offset: wish.offset, limit, countTo: countedRows + 1 }
    const asked = searcher.search(appId, search, !isIndexed(filter))
    // A walk along all devices would take longer than the copy, and would only hold that up.
    const found = isIndexed(filter) ? await soon(asked) : await asked
    if (found === undefined) return undefined
    const { rows, isTouched } = await readFound(sql, appId, found.serials, found.through)
    const fitting = isTouched ? rowsThatFit(rows, filter, wish) : rows
    const isWhole = fitting.length > wish.pageSize || found.serials.length < limit
    return { rows: fitting, counted: found.counted, isWhole }
  }

  /** The rows of a page and the total from the application's copy; nothing when there is none to be had. */
  async function searchDevices(sql: Sql, appId: string, filter: DeviceFilter, wish: PageWish) {
    const found = await tryCopy(sql, appId, filter, wish, wish.pageSize + 1)
    if (found === undefined || found.isWhole) return found
    const again = await tryCopy(sql, appId, filter, wish, wish.pageSize + 1 + spareRows)
    return again?.isWhole ? again : undefined
  }

  /** A copy answers soonest; without one, the index finds what was asked for, or there is little to walk along. */
  async function readDevices(
    sql: Sql,
    appId: string,
    filter: DeviceFilter,
    wish: PageWish,
  ): Promise<PageOf<DeviceRecord>> {
    const isSearched = searcher.holds(appId) || (!isIndexed(filter) && (await isLarge(sql, appId)))
    const found = isSearched ? await searchDevices(sql, appId, filter, wish) : undefined
    const { rows, counted } = found ?? (await walkDevices(sql, appId, filter, wish))
    return toPage(wish, rows, counted, (row) => showDevice(toDevice(row), showMoment))
  }

  return [
    read(pageDevices, async ({ sql, caller, query }) => {
      const appId = await requireMeantApplication(sql, caller, query.appId)
      const [from, to, bbox] = [given(query.createTimeFrom), given(query.createTimeTo), given(query.bbox)]
      const filter: DeviceFilter = {
        deviceNo: given(query.deviceNo),
        deviceName: given(query.deviceName),
        provinceCode: given(query.provinceCode),
        cityCode: given(query.cityCode),
        districtCode: given(query.districtCode),
        modelName: given(query.modelName),
        status: given(query.status),
        onlineStatus: given(query.onlineStatus),
        runStatus: given(query.runStatus),
        boundFrom: from === null ? null : readMoment(from),
        // A moment is shown to the second, so the last one counts whole.
        boundBefore: to === null ? null : new Date(readMoment(to, 'last').getTime() + 1000),
        bbox: bbox === null ? null : readBbox(bbox),
      }
      return readDevices(sql, appId, filter, readWish(query, deviceKey))
    }),
  ]
}

/**
 * Of the rows of a page those that fit as they are now, in its order: one that changed since it was found may not, and
 * one that was bound anew belongs elsewhere.
 */
function rowsThatFit(rows: readonly DeviceRow[], filter: DeviceFilter, { after }: PageWish): DeviceRow[] {
  let before = after
  return rows.filter((row) => {
    const key: string[] = JSON.parse(row.page_key)
    if (!fits(toDevice(row), filter) || (before !== null && !comesBehind(key, before))) return false
    before = key
    return true
  })
}

function comesBehind([micros = '', deviceNo = '']: string[], [aheadMicros = '', aheadNo = '']: string[]): boolean {
  if (micros !== aheadMicros) return Number(micros) < Number(aheadMicros)
  return Buffer.compare(Buffer.from(deviceNo), Buffer.from(aheadNo)) < 0
}

/** The answer, or nothing when it takes too long. */
async function soon<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, patienceMs, undefined)
  })
  try {
    return await Promise.race([asked, late])
  } finally {
    clearTimeout(timer)
  }
}

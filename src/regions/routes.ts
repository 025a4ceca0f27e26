import { writeOnce } from '../callers/write-once.ts'
import type { Context } from '../context.ts'
import { insertPlatformEvent } from '../events/store.ts'
import { Reply } from '../http/answer.ts'
import { type Handler, handle, read } from '../http/handler.ts'
import { StaticAnswer } from '../http/static-answer.ts'
import { invalidRequest, Refusal } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { deleteRegion, getRegion, getRegionTree, pageRegions, saveRegion } from './contract.ts'
import { regionTable } from './names.ts'
import { losesParent, parentReason } from './rules.ts'
import type { SavedRegions } from './saved-regions.ts'
import * as store from './store.ts'
import { RegionTable } from './table.ts'

const headers = { 'content-type': 'application/json', 'cache-control': 'private, no-cache' }

export function regionRoutes({ sql }: Context, regions: SavedRegions): Handler[] {
  /** The answers of one table, by code and depth; there are as many as it has regions. */
  let trees = new Map<string, StaticAnswer>()
  let treesOf = regionTable()

  function treeAnswer(code: string | null, depth: number): StaticAnswer {
    const table = regionTable()
    if (treesOf !== table) trees = new Map()
    treesOf = table
    const key = `${code ?? ''}/${depth}`
    const known = trees.get(key)
    if (known !== undefined) return known
    const tree = table.tree(code, depth)
    if (tree === undefined) throw new Refusal('regionNotFound')
    const answer = new StaticAnswer(`{"code":0,"msg":"success","data":${tree}}`, headers)
    trees.set(key, answer)
    return answer
  }

  return [
    handle(
      getRegionTree,
      async ({ query, header }) =>
        new Reply(treeAnswer(given(query.code), given(query.depth) ?? 3).answerTo({ header })),
    ),

    handle(getRegion, async ({ query }) => {
      const region = regionTable().find(query.code)
      if (region === undefined) throw new Refusal('regionNotFound')
      return region
    }),

    handle(saveRegion, async ({ body, actor, ...request }) => {
      const { code, name } = body
      const region = { code, name, parentCode: given(body.parentCode), isEnded: given(body.isEnded) ?? false }
      const saved = await writeOnce(sql, request, async (tx) => {
        await store.beginChange(tx)
        const reason = parentReason(region, new RegionTable(await store.savedRegions(tx)))
        if (reason !== undefined) throw invalidRequest([{ field: 'parentCode', reason }])
        const data = await store.upsertRegion(tx, region)
        await insertPlatformEvent(tx, { type: 'region.saved', actor, subject: code, data })
        return data
      })
      await regions.noteChange()
      return saved
    }),

    handle(deleteRegion, async ({ body, actor, ...request }) => {
      const deleted = await writeOnce(sql, request, async (tx) => {
        await store.beginChange(tx)
        const before = await store.savedRegions(tx)
        const data = await store.deleteSavedRegion(tx, body.code)
        if (losesParent(before, await store.savedRegions(tx))) throw new Refusal('regionInUse')
        await insertPlatformEvent(tx, { type: 'region.deleted', actor, subject: data.code, data })
        return data
      })
      await regions.noteChange()
      return deleted
    }),

    read(pageRegions, ({ sql, query }) => store.pageOfRegions(sql, query)),
  ]
}

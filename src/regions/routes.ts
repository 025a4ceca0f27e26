import { Reply } from '../http/answer.ts'
import { type Handler, handle } from '../http/handler.ts'
import { StaticAnswer } from '../http/static-answer.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { getRegion, getRegionTree } from './contract.ts'
import { findRegion, regionTree } from './tree.ts'

const headers = { 'content-type': 'application/json', 'cache-control': 'private, no-cache' }

/** Throws 10040 for a code that the table does not have. */
function treeAnswer(code: string | null, depth: number): string {
  const tree = regionTree(code, depth)
  if (tree === undefined) throw new Refusal('regionNotFound')
  return `{"code":0,"msg":"success","data":${tree}}`
}

export function regionRoutes(): Handler[] {
  /** Answers by code and depth; there are as many as the table has regions. */
  const trees = new Map<string, StaticAnswer>()

  return [
    handle(getRegionTree, async ({ query, header }) => {
      const code = given(query.code)
      const depth = given(query.depth) ?? 3
      const key = `${code ?? ''}/${depth}`
      const tree = trees.get(key) ?? new StaticAnswer(treeAnswer(code, depth), headers)
      trees.set(key, tree)
      return new Reply(tree.answerTo({ header }))
    }),

    handle(getRegion, async ({ query }) => {
      const region = findRegion(query.code)
      if (region === undefined) throw new Refusal('regionNotFound')
      return region
    }),
  ]
}

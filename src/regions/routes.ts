import { type Handler, handle, JsonText } from '../http/serve.ts'
import { Refusal } from '../refusals.ts'
import { given } from '../values.ts'
import { getRegion, getRegionTree } from './contract.ts'
import { findRegion, regionTree } from './tree.ts'

export function regionRoutes(): Handler[] {
  return [
    handle(getRegionTree, async ({ query }) => {
      const tree = regionTree(given(query.code), given(query.depth) ?? 3)
      if (tree === undefined) throw new Refusal('regionNotFound')
      return new JsonText(tree)
    }),

    handle(getRegion, async ({ query }) => {
      const region = findRegion(query.code)
      if (region === undefined) throw new Refusal('regionNotFound')
      return region
    }),
  ]
}

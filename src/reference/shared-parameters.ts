import { capitalised, refTo, sorted } from './openapi-parts.ts'
import type { Json } from './published-schema.ts'

/** Moves them into the components, which it returns. */
export function shareParameters(paths: Record<string, Record<string, Json>>): Record<string, Json> {
  const uses = new Map<string, { parameter: Json; lists: Json[][] }>()
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const list = (operation.parameters ?? []) as Json[]
    for (const parameter of list) {
      if (parameter.name === undefined) continue
      const text = JSON.stringify(parameter)
      const use = uses.get(text) ?? { parameter, lists: [] }
      use.lists.push(list)
      uses.set(text, use)
    }
  }
  const shared: Record<string, Json> = {}
  for (const { parameter, lists } of [...uses.values()].sort((a, b) => b.lists.length - a.lists.length)) {
    const own = capitalised(String(parameter.name))
    const name = [own, `Any${own}`].find((free) => shared[free] === undefined)
    if (lists.length === 1 || name === undefined) continue
    shared[name] = parameter
    const text = JSON.stringify(parameter)
    for (const list of lists) {
      const index = list.findIndex((own) => JSON.stringify(own) === text)
      list[index] = refTo('parameters', name)
    }
  }
  return sorted(shared)
}

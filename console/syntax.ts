/** A node of a module's syntax tree, as `this.parse` of a plugin returns it. */
export interface Node {
  type: string
  start: number
  end: number
  [member: string]: unknown
}

export interface Edit {
  start: number
  end: number
  text: string
}

/** The code after these edits, which are in the order of their places, for a plugin to return. */
export function edited(code: string, edits: readonly Edit[]): { code: string; map: null } {
  const replaced = (text: string, edit: Edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end)
  return { code: edits.toReversed().reduce(replaced, code), map: null }
}

/** Calls `enter` for each node of a tree in its place, and goes into those for which it returns true. */
export function visit(tree: object, enter: (node: Node) => boolean): void {
  const node = tree as Node
  if (!enter(node)) return
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof (child as Node | null)?.type === 'string') visit(child as Node, enter)
    }
  }
}

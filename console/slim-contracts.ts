import { join } from 'node:path'
import type { Plugin } from 'vite'
import type { Operation } from '../src/vocabulary/operation.ts'
import { type Edit, edited, type Node, visit } from './syntax.ts'

/** The members of an operation that the console's build has. `Called` in src/api/api.ts holds the console to them. */
export const keptMembers = ['id', 'method', 'path', 'callers', 'roles'] as const satisfies (keyof Operation)[]

/** Other contracts name the members of these schemas: of the empty ones there are none. */
const schemaMembers = ['body', 'query', 'data']

const contracts = join(import.meta.dirname, '..', 'src', '/')

/**
 * Takes out of the service's contracts what only the service and the reference read: schemas, summaries, refusals and
 * examples. They are a fifth of the script that the console's first load would take.
 */
export function slimContracts(): Plugin {
  return {
    name: 'slim contracts',
    apply: 'build',
    enforce: 'post',
    transform: {
      filter: { id: /\/src\/.*\.ts$/ },
      handler(code, id) {
        if (!id.startsWith(contracts)) return
        const emptySchema = /^import Type\b/m.test(code) ? 'Type' : '{properties:{}}'
        const edits: Edit[] = []
        visit(this.parse(code), (node) => {
          // Only the reference shows the descriptions of when an event happens.
          if (node.type === 'Property' && (node.key as Node).name === 'happens') {
            edits.push({ start: node.start, end: node.end, text: 'happens: 0' })
            return false
          }
          if (node.type !== 'CallExpression') return true
          if (rootOf(node) === 'Type') {
            edits.push({ start: node.start, end: node.end, text: 'Type' })
            return false
          }
          if ((node.callee as Node).name !== 'operation') return true
          const [declared] = node.arguments as Node[]
          const members = ((declared?.properties ?? []) as Node[]).flatMap(({ type, key, start, end }) => {
            const name = String((key as Node | undefined)?.name)
            if (schemaMembers.includes(name)) return [`${name}:${emptySchema}`]
            // What operations share may be such a member.
            const isKept = type === 'SpreadElement' || (keptMembers as readonly string[]).includes(name)
            return isKept ? [code.slice(start, end)] : []
          })
          edits.push({ start: node.start, end: node.end, text: `{${members.join()}}` })
          return false
        })
        return edited(code, edits)
      },
    },
  }
}

/** The name that a chain of calls and members begins with: `Type` of `Type.Object({}).properties`. */
function rootOf(node: Node): unknown {
  if (node.type === 'Identifier') return node.name
  const inner =
    node.type === 'CallExpression' ? node.callee : node.type === 'MemberExpression' ? node.object : undefined
  return inner === undefined ? undefined : rootOf(inner as Node)
}

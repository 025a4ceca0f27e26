import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Plugin } from 'vite'

/** What the classes of a component begin with, where that is not its folder's name. */
const prefixes: Record<string, string> = {
  'auto-complete': 'select-auto-complete',
  'float-button': 'float-btn',
  'qr-code': 'qrcode',
  'tree-select': 'select-tree',
}

/**
 * Leaves out the styles of those of antd's components that no script of the build has, and of writing from right to left:
 * its one style sheet is for all of them, and reading it takes longer than anything else of a first visit.
 */
export function usedStyles(): Plugin {
  return {
    name: 'used styles',
    apply: 'build',
    generateBundle(_, bundle) {
      const files = Object.values(bundle)
      // A component brings its style's module with it, also where the style itself is in the sheet.
      const modules = files.flatMap((file) => (file.type === 'chunk' ? Object.entries(file.modules) : []))
      const used = new Set(
        modules.flatMap(([id, { renderedLength }]) =>
          renderedLength === 0 ? [] : (/\/antd\/es\/([a-z-]+)\/style\//.exec(id)?.[1] ?? []),
        ),
      )
      if (!used.has('button')) throw new Error('the components of the build are not found')
      const unused = componentsOfAntd().filter((name) => !used.has(name))
      const isUseless = new RegExp(
        `\\.ant-(${unused.map((name) => prefixes[name] ?? name).join('|')})(?![a-z])|-rtl\\b`,
      )
      for (const file of files) {
        if (file.type !== 'asset' || !file.fileName.endsWith('.css')) continue
        file.source = without(String(file.source), (selector) => isUseless.test(selector.replace(/:not\([^)]*\)/g, '')))
      }
    },
  }
}

/** Those with styles of their own, by their folders. */
function componentsOfAntd(): string[] {
  const folder = join(createRequire(import.meta.url).resolve('antd/package.json'), '..', 'es')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap(
    (file) => /^([a-z-]+)[\\/]style[\\/]index\.js$/.exec(file)?.[1] ?? [],
  )
}

/** The same style sheet without such selectors, and without rules that have none left. */
function without(css: string, isUseless: (selector: string) => boolean): string {
  let kept = ''
  for (const { head, body } of rulesOf(css)) {
    if (/^@(media|supports|container|layer)/.test(head)) {
      const inner = without(body, isUseless)
      if (inner !== '') kept += `${head}{${inner}}`
    } else if (head.startsWith('@')) {
      kept += `${head}{${body}}`
    } else {
      // A comma in brackets divides no selectors.
      const selectors = head.split(/,(?![^(]*\))/).filter((selector) => !isUseless(selector))
      if (selectors.length > 0) kept += `${selectors.join(',')}{${body}}`
    }
  }
  return kept
}

/** The outermost rules of a style sheet that has no comments. */
function* rulesOf(css: string): Generator<{ head: string; body: string }> {
  let [depth, start, open] = [0, 0, 0]
  for (let index = 0; index < css.length; index++) {
    if (css[index] === '{' && depth++ === 0) open = index
    if (css[index] === '}' && --depth === 0) {
      yield { head: css.slice(start, open).trim(), body: css.slice(open + 1, index) }
      start = index + 1
    }
  }
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'
import { antd, sharedVariables, styleModule, variablesOf } from './static-theme.ts'

/** What the classes of a component begin with, where that is not its folder's name. */
const prefixes: Record<string, string[]> = {
  'auto-complete': ['select-auto-complete'],
  badge: ['badge', 'ribbon', 'scroll-number'],
  button: ['btn'],
  calendar: ['picker-calendar'],
  'date-picker': ['picker'],
  'float-button': ['float-btn'],
  grid: ['row', 'col'],
  input: ['input', 'otp'],
  'qr-code': ['qrcode'],
  'tree-select': ['select-tree'],
}
/** What the console imports, and what becomes of it. */
const whole = 'antd/dist/antd.css'
const sheet = 'antd-styles/'

/**
 * antd's one style sheet, taken apart: the rules of a component come with the component, in the style sheets of the
 * chunks that have it. Reading the rules of all components would take longer than anything else of a first visit. What is
 * of no component stays in it; writing from right to left is left out.
 */
export function componentStyles(): Plugin {
  const styles = stylesOfComponents()
  return {
    name: 'component styles',
    enforce: 'pre',
    resolveId(id) {
      const name = id === whole ? `${sheet}base.css` : id
      return name.startsWith(sheet) ? { id: `/${name}`, moduleSideEffects: true } : undefined
    },
    load: (id) => (id.startsWith(`/${sheet}`) ? styles.get(id.slice(sheet.length + 1, -'.css'.length)) : undefined),
    // A component brings its style's module with it, also where the style itself is in the sheet.
    transform(code, id) {
      const component = styleModule.exec(id)?.[1]
      return component && styles.get(component) ? `import '${sheet}${component}.css'\n${code}` : undefined
    },
  }
}

/** The rules by the folders of the components that they are for. */
function stylesOfComponents(): Map<string, string> {
  const components = readdirSync(join(antd, 'es'), { recursive: true, encoding: 'utf8' }).flatMap(
    (file) => /^([a-z-]+)[\\/]style[\\/]index\.js$/.exec(file)?.[1] ?? [],
  )
  const byPrefix = components.flatMap((name) => (prefixes[name] ?? [name]).map((prefix) => ({ name, prefix })))
  // The longest first: that of a part of another component's name is not its own.
  byPrefix.sort((one, other) => other.prefix.length - one.prefix.length)
  const ownerOf = (rule: string) => {
    const className = /\.ant-([a-z-]+)/.exec(rule)?.[1] ?? ''
    return byPrefix.find(({ prefix }) => `${className}-`.startsWith(`${prefix}-`))?.name ?? 'base'
  }
  const styles = new Map(components.map((name) => [name, variablesOf(name)]))
  styles.set('base', sharedVariables())
  for (const rule of rulesOf(readFileSync(join(antd, 'dist', 'antd.css'), 'utf8'))) {
    const kept = withoutUseless(rule)
    const owner = ownerOf(kept)
    styles.set(owner, (styles.get(owner) ?? '') + kept)
  }
  return styles
}

/** Rules for right-to-left text, and for the page that antd's sheet was extracted from. */
const isUseless = (selector: string) =>
  /-rtl\b|\.css-var-_R_|cssinjs-cache-path/.test(selector.replace(/:not\([^)]*\)/g, ''))

/** The same rule without such selectors; empty where it has none left. */
function withoutUseless({ head, body }: Rule): string {
  if (/^@(media|supports|container|layer)/.test(head)) {
    const inner = [...rulesOf(body)].map(withoutUseless).join('')
    return inner === '' ? '' : `${head}{${inner}}`
  }
  if (head.startsWith('@')) return `${head}{${body}}`
  // A comma in brackets divides no selectors.
  const selectors = head.split(/,(?![^(]*\))/).filter((selector) => !isUseless(selector))
  return selectors.length === 0 ? '' : `${selectors.join(',')}{${body}}`
}

interface Rule {
  head: string
  body: string
}

/** The outermost rules of a style sheet that has no comments. */
function* rulesOf(css: string): Generator<Rule> {
  let [depth, start, open] = [0, 0, 0]
  for (let index = 0; index < css.length; index++) {
    if (css[index] === '{' && depth++ === 0) open = index
    if (css[index] === '}' && --depth === 0) {
      yield { head: css.slice(start, open).trim(), body: css.slice(open + 1, index) }
      start = index + 1
    }
  }
}

import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createCache, extractStyle, StyleProvider } from '@ant-design/cssinjs'
import { theme as antdTheme, ConfigProvider } from 'antd'
import { createElement, type FC } from 'react'
import { renderToString } from 'react-dom/server'
import type { Plugin } from 'vite'
import { type LookOptions, lookOf } from './look.ts'
import { type Edit, edited, type Node, visit } from './syntax.ts'

// antd computes its theme in the browser: colours, measures and the variables of the style sheets, from a few given
// ones. That took a fifth of the time of each page, and a tenth of its script. Here the build computes them: the
// variables are in the style sheets, and the script has the few values that components read.

const require = createRequire(import.meta.url)
export const antd = dirname(require.resolve('antd/package.json'))

/** The modules of a component's styles; the first group is the component's folder. */
export const styleModule = /[\\/]antd[\\/]es[\\/]([a-z-]+)[\\/]style[\\/]\w+\.js$/

/** The name under which the console imports the values that components read: `tokens` of both looks. */
const tokensModule = 'virtual:antd-tokens'

/**
 * What the browser's antd has instead of its modules that compute. A component's styles are in the style sheets, and the
 * theme's tokens are those that the theme was given.
 */
const replaced: Record<string, string> = {
  'theme/useToken.js': `
    import { useContext } from 'react'
    import { DesignTokenContext } from './context'
    export const unitless = {}
    export default function useToken() {
      const { token, cssVar } = useContext(DesignTokenContext)
      return [undefined, token, '', token, cssVar, true]
    }`,
  'theme/util/genStyleUtils.js': `
    import { useContext } from 'react'
    import { DesignTokenContext } from '../context'
    const useStyle = () => ['', useContext(DesignTokenContext).cssVar?.key]
    export const genStyleHooks = () => useStyle
    export const genComponentStyleHook = () => () => ''
    export const genSubStyleComponent = () => () => null
    export const genCssVar = (antCls, component) => {
      const nameOf = (name) => \`--\${antCls.replaceAll('.', '')}-\${component}-\${name}\`
      return [nameOf, (name, fallback) => \`var(\${nameOf(name)}\${fallback ? \`, \${fallback}\` : ''})\`]
    }`,
  'theme/util/useResetIconStyle.js': 'export default () => {}',
  'theme/themes/default/theme.js': 'export default undefined',
  // For one tooltip that moves between its places, which the console does not have.
  'tooltip/UniqueProvider/index.js': 'export default ({ children }) => children',
}

/** Replaces the computing parts of antd, and provides `virtual:antd-tokens`. */
export function staticTheme(): Plugin {
  const missing = new Set(Object.keys(replaced))
  return {
    name: 'static theme',
    enforce: 'pre',
    resolveId: (id) => (id === tokensModule ? `\0${tokensModule}` : undefined),
    load(id) {
      if (id === `\0${tokensModule}`) return `export const tokens = ${JSON.stringify(tokensRead())}`
      const [, path = ''] = /[\\/]antd[\\/]es[\\/](.+)$/.exec(id) ?? []
      const file = path.replaceAll('\\', '/')
      missing.delete(file)
      return replaced[file]
    },
    // Another version of antd may compute elsewhere.
    buildEnd(error) {
      if (error === undefined && missing.size > 0) this.error(`antd has no ${[...missing].join(', ')}`)
    },
    // Without the functions that a style is computed by, the build leaves out all that only they use.
    transform(code, id) {
      if (!styleModule.test(id)) return
      const edits: Edit[] = []
      visit(this.parse(code), (node) => {
        const isHook = node.type === 'CallExpression' && /^gen(Style|ComponentStyle|SubStyle)/.test(nameOf(node.callee))
        const [first, last] = isHook ? [(node.arguments as Node[])[0], (node.arguments as Node[]).at(-1)] : []
        if (first && last) edits.push({ start: first.start, end: last.end, text: '' })
        return !isHook
      })
      return edited(code, edits)
    },
  }
}

const nameOf = (callee: unknown) => String((callee as Node).name)

/** The style sheet with the values of the variables that all components share. */
export const sharedVariables = (): string => sheetOf([], 'token')

/** The style sheet with the values of the variables of one component's styles; empty if it has none. */
export function variablesOf(component: string): string {
  const folder = join(antd, 'lib', component, 'style')
  const hooks = readdirSync(folder).flatMap((file) => {
    if (!file.endsWith('.js') || !readFileSync(join(folder, file), 'utf8').includes('genStyleHooks')) return []
    const exported = Object.entries<StyleHook>(require(join(folder, file)))
    return exported.flatMap(([name, hook]) => (name === 'default' || /^use[A-Z]/.test(name) ? [hook] : []))
  })
  return sheetOf(hooks, 'cssVar')
}

type StyleHook = (prefixClass: string, rootClass: string) => unknown
type Variables = Map<string, string>
const root = 'root'

const Styled: FC<{ useStyle: StyleHook }> = ({ useStyle }) => {
  useStyle(root, root)
  return null
}

/** The variables that antd sets when a component with these hooks is drawn: those of the light look, and what differs. */
function sheetOf(hooks: readonly StyleHook[], type: 'token' | 'cssVar'): string {
  const valuesIn = (options: LookOptions): Variables => {
    const cache = createCache()
    const theme = { ...lookOf(options), zeroRuntime: true, cssVar: { key: root } }
    const styled = hooks.map((useStyle) => createElement(Styled, { useStyle, key: hooks.indexOf(useStyle) }))
    const provider = createElement(ConfigProvider, { theme }, styled)
    renderToString(createElement(StyleProvider, { cache }, provider))
    const css = extractStyle(cache, { plain: true, types: [type] })
    return new Map([...css.matchAll(/(--[\w-]+):([^;}]*)/g)].map(([, name = '', value = '']) => [name, value]))
  }
  const light = valuesIn({ isDark: false, motion: true })
  const dark = differences(light, valuesIn({ isDark: true, motion: true }))
  const still = differences(light, valuesIn({ isDark: false, motion: false }))
  const both = [...dark.keys()].filter((name) => still.has(name))
  if (both.length > 0) throw new Error(`${both.join(', ')}: depend on the colours and on motion`)
  return [
    ruleOf(':root', light),
    ruleOf(':root[data-shade="dark"]', dark),
    still.size === 0 ? '' : `@media (prefers-reduced-motion: reduce){${ruleOf(':root', still)}}`,
  ].join('')
}

const differences = (from: Variables, to: Variables): Variables =>
  new Map([...to].filter(([name, value]) => from.get(name) !== value))

const ruleOf = (selector: string, variables: Variables): string =>
  variables.size === 0 ? '' : `${selector}{${[...variables].map((entry) => entry.join(':')).join(';')}}`

/** The values that components read from the theme's tokens outside of their styles, in both looks. */
function tokensRead() {
  const names = new Set<string>()
  const es = join(antd, 'es')
  for (const file of readdirSync(es, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.js') || /(^|[\\/])(style|theme)[\\/]/.test(file)) continue
    const code = readFileSync(join(es, file), 'utf8')
    if (!code.includes('useToken')) continue
    for (const [, name = ''] of code.matchAll(/\btoken\??\.(\w+)/g)) names.add(name)
    for (const [, list = ''] of code.matchAll(/const \{([^}]*)\} = token\b/g)) {
      for (const [name] of list.matchAll(/\w+/g)) names.add(name)
    }
  }
  const valuesOf = (isDark: boolean) => {
    const all = antdTheme.getDesignToken(lookOf({ isDark, motion: true }))
    return Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name) || name.startsWith('screen')))
  }
  return { light: valuesOf(false), dark: valuesOf(true) }
}

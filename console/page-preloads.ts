import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Plugin, Rollup } from 'vite'

const source = join(import.meta.dirname, 'src')
/** The pages of routes.tsx whose addresses have no parameters: `page('sites', () => import('./sites/list.tsx'))`. */
const pageRoute = /page\('([^':*]*)', \(\) => import\('([^']+)'\)/g

/** Vite leaves out the attribute by which the browser runs boot.ts before it draws anything. */
const bootScript = /<script async type="module"(?=[^>]*\/boot-)/

/**
 * Names in index.html the files of start.tsx, which boot.ts imports later, and writes index.html once more for each page
 * that has an address of its own, with the page's files named in it: the browser asks for all of them at once.
 */
export function pagePreloads(): Plugin {
  return {
    name: 'page preloads',
    apply: 'build',
    enforce: 'post',
    generateBundle(_, bundle) {
      const index = bundle['index.html'] as Rollup.OutputAsset
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
      const linksOf = (module: string, html: string, styleLink: (file: string) => string) => {
        const chunk = chunks.find(({ moduleIds }) => moduleIds.includes(resolve(source, module)))
        if (chunk === undefined) throw new Error(`${module} has no file`)
        const files = filesOf(chunk, bundle).filter((file) => !html.includes(file))
        return files.map((file) => (file.endsWith('.css') ? styleLink(file) : scriptLink(file))).join('')
      }
      const withLinks = (html: string, links: string) => html.replace('</head>', `${links}</head>`)
      const plain = String(index.source).replace(bootScript, '$& blocking="render"')
      if (!plain.includes('blocking=')) throw new Error('index.html has no script of boot.ts')
      const html = withLinks(plain, linksOf('start.tsx', plain, usedStyle))
      index.source = html
      for (const [, path = '', module = ''] of readFileSync(join(source, 'routes.tsx'), 'utf8').matchAll(pageRoute)) {
        const fileName = `${path.replace('/console/', '') || 'overview'}.html`
        this.emitFile({ type: 'asset', fileName, source: withLinks(html, linksOf(module, html, laterStyle)) })
      }
    },
  }
}

/** A chunk's files and those of what it imports, as far as they are needed from the start. */
function filesOf(chunk: Rollup.OutputChunk, bundle: Rollup.OutputBundle, known = new Set<string>()): string[] {
  if (known.has(chunk.fileName)) return []
  known.add(chunk.fileName)
  for (const name of chunk.imports) {
    const imported = bundle[name]
    if (imported?.type === 'chunk') filesOf(imported, bundle, known)
  }
  for (const style of chunk.viteMetadata?.importedCss ?? []) known.add(style)
  return [...known]
}

const scriptLink = (file: string) =>
  `<link rel="modulepreload" fetchpriority="low" crossorigin href="/console/${file}">`
/** The browser draws nothing before it has this style. */
const usedStyle = (file: string) => `<link rel="stylesheet" crossorigin href="/console/${file}">`
const laterStyle = (file: string) =>
  `<link rel="preload" as="style" fetchpriority="low" crossorigin href="/console/${file}">`

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Plugin, Rollup } from 'vite'

const source = join(import.meta.dirname, 'src')
/** The pages of routes.tsx whose addresses have no parameters: `page('sites', () => import('./sites/list.tsx'))`. */
const pageRoute = /page\('([^':*]*)', \(\) => import\('([^']+)'\)\)/g

/**
 * Puts early.ts before the other scripts of index.html, and writes index.html once more for each page that has an
 * address of its own, with the page's files named in it: the browser asks for them along with the frame's, not after it
 * has run.
 */
export function pagePreloads(): Plugin {
  return {
    name: 'page preloads',
    apply: 'build',
    enforce: 'post',
    generateBundle(_, bundle) {
      const index = bundle['index.html'] as Rollup.OutputAsset
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
      const early = chunks.find(({ name }) => name === 'early')
      if (early === undefined) throw new Error('early.ts has no file')
      const html = String(index.source)
        .replace(linkTo(early.fileName), '')
        .replace('<script ', `${earlyScript(early)}\n    <script `)
      index.source = html
      for (const [, path = '', module = ''] of readFileSync(join(source, 'routes.tsx'), 'utf8').matchAll(pageRoute)) {
        const chunk = chunks.find(({ moduleIds }) => moduleIds.includes(resolve(source, module)))
        if (chunk === undefined) throw new Error(`the page ${path} has no file`)
        const links = filesOf(chunk, bundle)
          .filter((file) => !html.includes(file))
          .map(linkTo)
        const fileName = `${path.replace('/console/', '') || 'overview'}.html`
        this.emitFile({ type: 'asset', fileName, source: html.replace('</head>', `${links.join('')}</head>`) })
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

/** `async`, so that it runs as soon as it is loaded; the other scripts run in their order, after the page is parsed. */
const earlyScript = ({ fileName, imports }: Rollup.OutputChunk) =>
  `<script type="module" async crossorigin src="/console/${fileName}"></script>${imports.map(linkTo).join('')}`

const linkTo = (file: string) =>
  file.endsWith('.css')
    ? `<link rel="preload" as="style" crossorigin href="/console/${file}">`
    : `<link rel="modulepreload" crossorigin href="/console/${file}">`

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Marked } from 'marked'
import type { Plugin } from 'vite'
import { guideNames, type Language, languages, pageTexts, type ReferencePart, referenceParts } from './guide-names.ts'
import { type Description, escapeHtml, referenceOfPart } from './reference-page.ts'
import { operationsOf, partsOfGuide } from './search-index.ts'

// The pages under /docs: the guides of docs/guides and the API reference, as HTML that needs no script to be read.

const root = join(import.meta.dirname, '..', '..')
const sourceOf = (language: Language, name: string) =>
  readFileSync(join(root, 'docs', 'guides', language, `${name}.md`), 'utf8')

/** A heading's anchor, as forges make it. */
const anchorOf = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

/** Resolves a link of a guide's source to the address of the page that is made of it. */
function addressOf(href: string, language: Language): string {
  const [, folder, name = '', anchor = ''] = /^(?:\.\.\/(en|zh)\/)?([\w-]+)\.md(#.*)?$/.exec(href) ?? []
  if (name === '') return href
  return guideAddress((folder as Language | undefined) ?? language, name) + anchor
}

const guideAddress = (language: Language, name: string) =>
  name === 'README' ? `/docs/${language}` : `/docs/${language}/${name}`

function markdown(language: Language): Marked {
  return new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(addressOf(href, language))}">${this.parser.parseInline(tokens)}</a>`
      },
      code({ text }) {
        // What scrolls must be reached by the keyboard.
        return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`
      },
    },
  })
}

interface Page {
  language: Language
  title: string
  /** The page's own address. */
  address: string
  /** The same in the other language. */
  other: string
  body: string
  head?: string
}

interface Guide {
  title: string
  html: string
}

function readGuide(language: Language, name: string): Guide {
  const source = sourceOf(language, name)
  const [, title] = /^# (.+)$/m.exec(source) ?? []
  if (title === undefined) throw new Error(`docs/guides/${language}/${name}.md has no title`)
  const html = markdown(language).parse(source, { async: false })
  return {
    title,
    html: html.replaceAll('<table>', '<div class="wide" tabindex="0"><table>').replaceAll('</table>', '</table></div>'),
  }
}

/** The files of the build that every page asks for. */
interface Assets {
  css: string
  script: string
  /** The search index of the page's language. */
  searchIndex: string
}

function frame(
  { language, title, address, other, body, head = '' }: Page,
  guides: Map<string, Guide>,
  { css, script, searchIndex }: Assets,
): string {
  const texts = pageTexts[language]
  const item = (href: string, text: string) =>
    `<li><a href="${href}"${href === address ? ' aria-current="page"' : ''}>${escapeHtml(text)}</a></li>`
  const listed = guideNames.map((name) => item(guideAddress(language, name), guides.get(name)?.title ?? name))
  const parts = Object.entries(referenceParts).map(([part, path]) => item(path, texts.parts[part as ReferencePart]))
  return `<!doctype html>
<html lang="${language === 'zh' ? 'zh-CN' : 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Forecourt</title>
<link rel="icon" href="/console/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${css}">
<script type="module" src="${script}"></script>
${head}</head>
<body>
<header><a class="name" href="/docs/${language}">Forecourt</a><a href="#contents">${texts.contents}</a><span></span>
<button type="button" data-search="${searchIndex}">${texts.search} <kbd>/</kbd></button>
<a href="${other}"${language === 'en' ? ' lang="zh-CN"' : ' lang="en"'}>${texts.otherLanguage}</a><a href="/console">${texts.console}</a></header>
<main>${body}</main>
<nav id="contents" aria-label="${texts.contents}">
<h2><a href="/docs/${language}"${address === `/docs/${language}` ? ' aria-current="page"' : ''}>${texts.guides}</a></h2><ol>${listed.join('')}</ol>
<h2>${texts.reference}</h2><ul>${parts.join('')}<li><a href="/openapi.json">openapi.json</a></li></ul>
</nav>
</body>
</html>
`
}

/** The next page: the guide after this one; from the index, the first guide. */
function nextOf(language: Language, name: string, guides: Map<string, Guide>): string {
  const next = guideNames[(guideNames as readonly string[]).indexOf(name) + 1]
  if (next === undefined) return ''
  return `<p class="next"><a href="${guideAddress(language, next)}">${pageTexts[language].next}${escapeHtml(guides.get(next)?.title ?? '')}</a></p>`
}

/** The pages of the guides in a language. */
function guidePages(language: Language, listed: Map<string, Guide>): Page[] {
  const other = language === 'en' ? 'zh' : 'en'
  return [...listed].map(([name, { title, html }]) => ({
    language,
    title,
    address: guideAddress(language, name),
    other: guideAddress(other, name),
    body: html + nextOf(language, name, listed),
  }))
}

/** The two pages of the reference, which is in English. */
function referencePages(script: string, openapi: Description): Page[] {
  const render = (text: string) => markdown('en').parse(text, { async: false })
  return (Object.keys(referenceParts) as ReferencePart[]).map((part) => {
    const title = pageTexts.en.parts[part]
    return {
      language: 'en',
      title,
      address: referenceParts[part],
      other: '/docs/zh',
      body: `<h1>${title}</h1>${referenceOfPart(openapi, part, render)}`,
      head: `<script type="module" src="/console/${script}"></script>\n`,
    }
  })
}

/** Makes the pages when the console is built. */
export function guides(): Plugin {
  return {
    name: 'guides',
    apply: 'build',
    generateBundle(_, bundle) {
      const styles = ['guides.css', '../src/ui/table/wide.css'].map((file) =>
        readFileSync(join(import.meta.dirname, file), 'utf8'),
      )
      const css = `/console/${this.getFileName(this.emitFile({ type: 'asset', name: 'guides.css', source: styles.join('\n') }))}`
      const scriptOf = (wanted: string) => {
        const found = Object.values(bundle).find(({ type, name }) => type === 'chunk' && name === wanted)
        if (found === undefined) throw new Error(`there is no script ${wanted}`)
        return found.fileName
      }
      const openapi = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'))
      const references = referencePages(scriptOf('reference'), openapi)
      for (const language of languages) {
        const listed = new Map(['README', ...guideNames].map((name) => [name, readGuide(language, name)]))
        const pages = guidePages(language, listed)
        const found = [
          ...[...listed].flatMap(([name, { title, html }]) => partsOfGuide(guideAddress(language, name), title, html)),
          ...operationsOf(openapi, (id) => {
            const { address, title } = references.find(({ body }) => body.includes(`<div id="${id}"`)) as Page
            return { url: address, page: title }
          }),
        ]
        const index = this.emitFile({ type: 'asset', name: `search-${language}.json`, source: JSON.stringify(found) })
        const assets = {
          css,
          script: `/console/${scriptOf('documents')}`,
          searchIndex: `/console/${this.getFileName(index)}`,
        }
        for (const page of language === 'en' ? [...pages, ...references] : pages) {
          const source = frame(page, listed, assets)
          this.emitFile({ type: 'asset', fileName: `${page.address.slice(1)}.html`, source })
        }
      }
    },
  }
}

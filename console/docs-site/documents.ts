// The script of the pages under /docs: copies code, and searches all pages. The index is a file of the
// build, fetched when the search is first opened.

import { isComposing, watchComposing, whenComposing } from '../src/browser/composing.ts'
import { copyText } from '../src/browser/copying.ts'

interface Entry {
  /** Its address, page, heading and text. */
  url: string
  page: string
  heading: string
  text: string
}

const texts = {
  en: {
    copy: 'Copy',
    copied: 'Copied',
    byHand: 'Press Ctrl+C',
    label: 'Search guides and reference',
    none: 'Nothing found.',
  },
  zh: { copy: '复制', copied: '已复制', byHand: '请按 Ctrl+C', label: '搜索指南和接口参考', none: '没有找到。' },
}[document.documentElement.lang.startsWith('zh') ? 'zh' : 'en']
const mostShown = 12

watchComposing()
const snippetBefore = 40
const snippetLength = 140

for (const block of document.querySelectorAll('pre')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = texts.copy
  button.addEventListener('click', async () => {
    const isCopied = await copyText(block.innerText)
    if (!isCopied) getSelection()?.selectAllChildren(block)
    button.textContent = isCopied ? texts.copied : texts.byHand
    setTimeout(() => {
      button.textContent = texts.copy
    }, 1500)
  })
  const place = document.createElement('div')
  place.className = 'code'
  block.replaceWith(place)
  place.append(block, button)
}

const opener = document.querySelector<HTMLButtonElement>('button[data-search]')
const dialog = document.createElement('dialog')
const field = document.createElement('input')
const list = document.createElement('ol')
const empty = document.createElement('p')
let index: Promise<Entry[]> | undefined

field.type = 'search'
field.setAttribute('aria-label', texts.label)
field.placeholder = texts.label
empty.role = 'status'
dialog.className = 'search'
dialog.setAttribute('aria-label', texts.label)
dialog.append(field, list, empty)
document.body.append(dialog)

function open(): void {
  index ??= fetch(opener?.dataset.search ?? '').then((answer) => answer.json())
  // Asked again when the search is next opened.
  index.catch(() => {
    index = undefined
  })
  dialog.showModal()
  field.select()
}

opener?.addEventListener('click', open)
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement
  if (event.key !== '/' || isTyping || dialog.open || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  open()
})

dialog.addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  event.preventDefault()
  const links = [...list.querySelectorAll('a')]
  const at = links.indexOf(document.activeElement as HTMLAnchorElement) + (event.key === 'ArrowDown' ? 1 : -1)
  ;(links[at] ?? field).focus()
})
field.addEventListener('keydown', ({ key }) => {
  if (key === 'Enter') list.querySelector('a')?.click()
})
list.addEventListener('click', () => dialog.close())

/** Shows what is found, once the text is no unfinished word. */
async function show(): Promise<void> {
  if (isComposing()) return
  const sought = field.value
  const entries = (await index) ?? []
  if (field.value !== sought) return
  const found = search(entries, sought)
  list.replaceChildren(...found.map((entry) => itemOf(entry, sought)))
  empty.textContent = sought.trim() !== '' && found.length === 0 ? texts.none : ''
}
field.addEventListener('input', () => void show())
whenComposing(() => void show())

/** The entries that contain every word; those with the words in their heading come first. */
function search(entries: readonly Entry[], sought: string): Entry[] {
  const words = wordsOf(sought)
  if (words.length === 0) return []
  const rank = ({ page, heading, text }: Entry) => {
    const [title, head, body] = [page, heading, text].map((part) => part.toLowerCase()) as [string, string, string]
    const has = (word: string) =>
      (head.includes(word) ? 4 : 0) + (body.includes(word) ? 2 : 0) + (title.includes(word) ? 1 : 0)
    const each = words.map(has)
    return each.includes(0) ? 0 : each.reduce((sum, one) => sum + one, 0)
  }
  return entries
    .map((entry) => ({ entry, rank: rank(entry) }))
    .filter(({ rank }) => rank > 0)
    .sort((one, other) => other.rank - one.rank)
    .slice(0, mostShown)
    .map(({ entry }) => entry)
}

const wordsOf = (sought: string) => sought.toLowerCase().split(/\s+/).filter(Boolean)

function itemOf({ url, page, heading, text }: Entry, sought: string): HTMLLIElement {
  const [item, link, words] = [
    document.createElement('li'),
    document.createElement('a'),
    document.createElement('span'),
  ]
  link.href = url
  link.textContent = heading === page || heading === '' ? page : `${page} › ${heading}`
  const places = wordsOf(sought).map((word) => text.toLowerCase().indexOf(word))
  const from = Math.max(0, (places.find((place) => place >= 0) ?? 0) - snippetBefore)
  words.textContent = `${from > 0 ? '…' : ''}${text.slice(from, from + snippetLength)}${text.length > from + snippetLength ? '…' : ''}`
  item.append(link, words)
  return item
}

// A result in the reference may lie within a folded operation, which must be opened.
function unfold(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  const folded = target?.closest('details')
  if (!folded || folded.open) return
  folded.open = true
  target?.scrollIntoView()
}
window.addEventListener('hashchange', unfold)
unfold()

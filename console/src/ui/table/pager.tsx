import { LeftOutlined, RightOutlined, VerticalRightOutlined } from '@ant-design/icons'
import { type ReactNode, useState } from 'react'
import { useLocation, useSearchParams } from 'react-router'
import { plainCode } from '../../browser/typed.ts'
import { useCommon } from '../../language/index.ts'
import { useChangeSearch } from '../filter/address.ts'
import { Button } from '../page/button.tsx'
import { grouped } from '../text/number.ts'

/** The data of every page operation (contract §5). */
export interface PageData<Item> {
  list: Item[]
  total: number
  totalIsExact: boolean
  pages: number
  pageSize: number
  nextCursor: string | null
}

/** The number of a page as the address has it. */
function numberOf(text: string | null): number | undefined {
  const number = Number(text)
  return Number.isInteger(number) && number > 1 ? number : undefined
}

/** The rows that pages with numbers reach (contract §5). */
const numberedRows = 100_000

interface PageNumberProps {
  here: number | undefined
  page: PageData<unknown>
  goTo: (number: number) => void
}

/** The number of the page, which can be changed to go to another. */
function PageNumber({ here, page, goTo }: PageNumberProps) {
  const t = useCommon()
  const [text, setText] = useState(String(here ?? ''))
  const { totalIsExact, pageSize } = page
  const last = totalIsExact ? Math.max(page.pages, 1) : Math.floor(numberedRows / pageSize)
  const pages = grouped(totalIsExact ? last : page.pages)
  function go(): void {
    const number = Number(text)
    if (Number.isInteger(number) && number >= 1 && number !== here) goTo(Math.min(number, last))
    else setText(String(here ?? ''))
  }
  return (
    <label className="pager-number number">
      <input
        aria-label={t('pageNumber')}
        inputMode="numeric"
        size={String(page.pages).length}
        value={text}
        onChange={({ target }) => setText(plainCode(target.value).replace(/\D/g, ''))}
        onKeyDown={({ key }) => key === 'Enter' && go()}
        onBlur={go}
      />
      {totalIsExact ? t('ofPages', { pages }) : t('ofPagesAtLeast', { pages })}
    </label>
  )
}

/** The table's present page, from the address: by a cursor, or by a number that the user entered. */
export function usePlace(cursorName: string) {
  const [search] = useSearchParams()
  const turn = useChangeSearch()
  const previous = usePreviousCursors(cursorName)
  const numberName = cursorName === 'cursor' ? 'pageNo' : `${cursorName}No`
  const cursor = search.get(cursorName) ?? ''
  const pageNo = cursor === '' ? numberOf(search.get(numberName)) : undefined
  const start = { [cursorName]: undefined, [numberName]: undefined }
  const byCursor = (to: string | undefined, before: string[]) =>
    turn({ [cursorName]: to }, { state: { [cursorName]: before } })
  const goTo = (number: number) => turn({ ...start, [numberName]: number <= 1 ? undefined : String(number) })
  return {
    names: [cursorName, numberName],
    /** The changes of the address that lead to the first page. */
    start,
    asked: cursor === '' ? pageNo && { pageNo } : { cursor },
    isFirst: cursor === '' && pageNo === undefined,
    hasPrevious: previous.length > 0 || pageNo !== undefined,
    /** Undefined if the address has a cursor, and the pages before it are unknown, as from a bookmark. */
    number: pageNo ?? (cursor === '' || previous.length > 0 ? previous.length + 1 : undefined),
    goTo,
    goBack: () => (pageNo === undefined ? byCursor(previous.at(-1), previous.slice(0, -1)) : goTo(pageNo - 1)),
    goOn: (nextCursor: string | null) =>
      pageNo === undefined ? byCursor(nextCursor ?? undefined, [...previous, cursor]) : goTo(pageNo + 1),
  }
}

interface TurnsProps {
  place: ReturnType<typeof usePlace>
  page: PageData<unknown>
  /** Whether the table still shows the rows of the page before. */
  isWaiting: boolean
}

/** The buttons that turn pages, and the page's number. */
export function Turns({ place, page, isWaiting }: TurnsProps) {
  const t = useCommon()
  const { number, goTo } = place
  return (
    <div className="buttons">
      <PagerButton icon={<VerticalRightOutlined />} words={t('firstPage')} isOff={place.isFirst} go={() => goTo(1)} />
      <PagerButton
        icon={<LeftOutlined />}
        words={t('previousPage')}
        isOff={!place.hasPrevious}
        go={() => place.goBack()}
      />
      <PageNumber key={`${number} ${page.pages}`} here={number} page={page} goTo={goTo} />
      <PagerButton
        icon={<RightOutlined />}
        words={t('nextPage')}
        isOff={!page.nextCursor || isWaiting}
        go={() => place.goOn(page.nextCursor)}
      />
    </div>
  )
}

interface PagerButtonProps {
  icon: ReactNode
  words: string
  isOff: boolean
  go: () => void
}

/** A button that turns pages. */
function PagerButton({ icon, words, isOff, go }: PagerButtonProps) {
  return <Button disabled={isOff} aria-label={words} title={words} icon={icon} onClick={go} />
}

/** The cursors of the pages before this one, from the first page, whose cursor is empty. */
function usePreviousCursors(cursorName: string): string[] {
  const state: unknown = useLocation().state
  return (state as Record<string, string[]> | null)?.[cursorName] ?? []
}

/** How many rows there are, and their order if they are not sorted by a heading. */
export function Total({ page, order }: { page: PageData<unknown>; order: string | undefined }) {
  const t = useCommon()
  const total = grouped(page.total)
  const words = page.totalIsExact ? t('total', { total }) : t('totalAtLeast', { total })
  // Another total is another text in its place, and not one that moves.
  return (
    <span key={words} className="faint number" title={order}>
      {words}
      {order !== undefined && <span className="pager-words">{t('byApplication')}</span>}
    </span>
  )
}

import { useLayoutEffect, useRef } from 'react'
import { useLocation, useNavigationType } from 'react-router'

/** Where the window was scrolled to, by the key of the entry in the history. */
const places = new Map<string, number>()

/** How long the rows of a page to which one goes back may take to arrive. */
const mostMs = 3_000

/**
 * A new page begins at its top, whatever the page before was scrolled to, and one to which the user goes back is where
 * it was. A change of the address's query alone, such as a filter, moves nothing.
 */
export function useScrollPlace(): void {
  const { key, pathname } = useLocation()
  const isBack = useNavigationType() === 'POP'
  const shown = useRef(pathname)
  useLayoutEffect(() => {
    // The browser would move the page that is being left. It does so rightly only when it loads a page anew.
    history.scrollRestoration = 'manual'
    const giveBack = () => {
      history.scrollRestoration = 'auto'
    }
    addEventListener('pagehide', giveBack)
    return () => removeEventListener('pagehide', giveBack)
  }, [])
  useLayoutEffect(() => {
    const isOther = shown.current !== pathname
    shown.current = pathname
    const place = isBack ? places.get(key) : isOther ? 0 : undefined
    const end = place === undefined ? () => {} : keepAt(place)
    const note = () => places.set(key, scrollY)
    addEventListener('scroll', note)
    return () => {
      end()
      removeEventListener('scroll', note)
    }
  }, [key, pathname, isBack])
}

const moves = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const

/** Scrolls to a place, and again while the content that reaches so far arrives, unless the user scrolls. */
function keepAt(place: number): () => void {
  scrollTo(0, place)
  const content = document.getElementById('content')
  if (place === 0 || content === null) return () => {}
  const observer = new ResizeObserver(() => scrollTo(0, place))
  observer.observe(content)
  const end = () => {
    observer.disconnect()
    for (const move of moves) removeEventListener(move, end)
  }
  for (const move of moves) addEventListener(move, end, { passive: true })
  setTimeout(end, mostMs)
  return end
}

// Where the focus is when a dialog opens, and when it is gone. The dialogs of the component library begin at their
// cross or their frame. Here they begin at their first field; a dialog without fields begins at its first button, which
// is the one that does nothing. What has the focus in a dialog may go, such as a form whose result takes its place: the
// focus then stays in the dialog. The library gives the focus back when a dialog closes that stays in the page; here it
// also returns from a dialog that is taken out of the page.

const dialogs = '.ant-modal, .ant-drawer'

/** The dialog that the focus came into last. */
let entered: Element | null = null

/** The elements that had the focus, the last one last; several, because a menu closes behind the dialog that it opens. */
let recent: HTMLElement[] = []
const mostRecent = 60

function beginningOf(box: Element): HTMLElement | undefined {
  const first = (selector: string) =>
    [...box.querySelectorAll<HTMLElement>(selector)].find((element) => element.checkVisibility())
  const fields = ':is(textarea, input:not([type=radio]), input:checked):enabled'
  return first(`:is(.ant-modal-body, .ant-drawer-body) ${fields}`) ?? first('.ant-modal-footer button:enabled')
}

function begin(box: Element): void {
  const present = document.activeElement
  if (present !== box && !present?.matches('.ant-modal-close, .ant-drawer-close')) return
  const isBegun = () => {
    if (document.activeElement === present) beginningOf(box)?.focus({ preventScroll: true })
    return document.activeElement !== present
  }
  if (isBegun()) return
  // The dialog is not in view yet, or its fields are still being read.
  const watch = new MutationObserver(() => isBegun() && watch.disconnect())
  watch.observe(box, { attributes: true, childList: true, subtree: true })
}

/** The dialogs that are watched. */
const watched = new WeakSet<Element>()

/**
 * Keeps the focus in a dialog when what has it goes, and gives it back to what had it before the dialog, if it goes with
 * the dialog and the page is still the same.
 */
function keep(box: Element): void {
  if (watched.has(box)) return
  watched.add(box)
  const { pathname } = location
  const before = recent
  const watch = new MutationObserver(() => {
    if (!box.isConnected) watch.disconnect()
    if (document.activeElement !== document.body || location.pathname !== pathname) return
    if (!box.isConnected) before.findLast((element) => element.checkVisibility())?.focus()
    else if (box === entered && box.checkVisibility()) {
      // Without fields and footer, its cross.
      const place = beginningOf(box) ?? box.querySelector('button')
      place?.focus({ preventScroll: true })
    }
  })
  watch.observe(box, { childList: true, subtree: true })
  // Either the dialog is taken out of its place in the body, or the place with it.
  const place = [...document.body.children].find((child) => child.contains(box))
  for (const parent of [document.body, place]) if (parent !== undefined) watch.observe(parent, { childList: true })
}

function noteFocus(element: Element | null): void {
  const box = element?.closest(dialogs) ?? null
  if (box === null) {
    // A closed dialog may stay in the page, hidden, and be opened again.
    setTimeout(() => {
      if (!entered?.checkVisibility()) entered = null
    }, 50)
  } else if (box !== entered) {
    entered = box
    keep(box)
    // The library moves the focus twice, from the cross to the frame.
    setTimeout(() => begin(box))
  }
  if (element instanceof HTMLElement) recent = [...recent.slice(1 - mostRecent), element]
}

document.addEventListener('focusin', ({ target }) => noteFocus(target as Element))
noteFocus(document.activeElement)

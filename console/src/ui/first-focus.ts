// The dialogs of the component library begin at their cross or their frame. Here they begin at their first field; a
// dialog without fields begins at its first button, which is the one that does nothing.

/** The dialog that the focus came into last. */
let entered: Element | null = null

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

function noteFocus(element: Element | null): void {
  const box = element?.closest('.ant-modal, .ant-drawer') ?? null
  if (box === null) {
    // A closed dialog may stay in the page, hidden, and be opened again.
    setTimeout(() => {
      if (!entered?.checkVisibility()) entered = null
    }, 50)
  } else if (box !== entered) {
    entered = box
    // The library moves the focus twice, from the cross to the frame.
    setTimeout(() => begin(box))
  }
}

document.addEventListener('focusin', ({ target }) => noteFocus(target as Element))
noteFocus(document.activeElement)

import type { ReactNode } from 'react'

/** Scrolls wide content sideways, also by the keyboard, without scrolling the page. */
export function Wide({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="wide" aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}

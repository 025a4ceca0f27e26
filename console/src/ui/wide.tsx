import type { ReactNode } from 'react'

/** Lets something wider than the window be moved sideways, also by the keyboard, while the page around it stays. */
export function Wide({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="wide" aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}

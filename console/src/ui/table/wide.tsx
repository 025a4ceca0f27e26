import type { CSSProperties, ReactNode } from 'react'

/** Scrolls wide content sideways, also by the keyboard, without scrolling the page. */
export function Wide({ label, style, children }: { label: string; style?: CSSProperties; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="wide" aria-label={label} style={style} tabIndex={0}>
      {children}
    </section>
  )
}

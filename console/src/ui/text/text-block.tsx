/** A text with its line breaks, as it was sent. */
export function TextBlock({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <pre className="json mono" tabIndex={0}>
      {text}
    </pre>
  )
}

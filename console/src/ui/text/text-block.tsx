/** A text with its line breaks, as it was sent. */
export function TextBlock({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <pre className="json mono" tabIndex={0}>
      {text}
    </pre>
  )
}

/** A record as the API returns it, in JSON. */
export function RecordJson({ record }: { record: unknown }) {
  return <TextBlock text={JSON.stringify(record, null, 2)} />
}

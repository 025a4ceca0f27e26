/** A record as the API answers it. */
export function RecordJson({ record }: { record: unknown }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <pre className="json mono" tabIndex={0}>
      {JSON.stringify(record, null, 2)}
    </pre>
  )
}

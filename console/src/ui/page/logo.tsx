/** The logo in index.html. As an image, the browser would lay it out as a document of its own. */
export function Logo({ size }: { size: number }) {
  return (
    <svg width={size} height={size} aria-hidden="true">
      <use href="#logo" />
    </svg>
  )
}

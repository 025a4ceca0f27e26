/** As part of the page: as an image, the browser would lay it out as a document of its own. */
export function Logo({ size }: { size: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#0b6e6e" />
      <path d="M7 24V12.5A4.5 4.5 0 0 1 11.5 8H14v16z" fill="#fff" />
      <path d="M16 14h10l-2.2 4H16z" fill="#ffb84d" />
    </svg>
  )
}

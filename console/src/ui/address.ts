import { useNavigate } from 'react-router'

/**
 * Changes members of the address's search; an empty one is taken out. It begins with what the address says at that very
 * moment and not with what was drawn last, so that a change which is not drawn yet is never undone by the next.
 */
export function useChangeSearch() {
  const navigate = useNavigate()
  return (changes: Record<string, string | undefined>, options: { replace?: boolean; state?: unknown } = {}): void => {
    const after = new URLSearchParams(window.location.search)
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === '') after.delete(name)
      else after.set(name, value)
    }
    void navigate(`?${after}`, options)
  }
}

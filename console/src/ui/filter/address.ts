import { useNavigate } from 'react-router'

/**
 * Changes parameters of the address's query; an empty one is removed. Starts from the address at the time of the call,
 * not of the last render, so that it never undoes a change that is not rendered yet.
 */
export function useChangeSearch() {
  const navigate = useNavigate()
  return (
    changes: Record<string, string | undefined>,
    options: { replace?: boolean; state?: unknown; flushSync?: boolean } = {},
  ): void => {
    const after = new URLSearchParams(window.location.search)
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === '') after.delete(name)
      else after.set(name, value)
    }
    void navigate(`?${after}`, options)
  }
}

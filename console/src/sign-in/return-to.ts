import { useLocation, useSearchParams } from 'react-router'
import { store, stored } from '../browser/storage.ts'
import { paths } from '../paths.ts'

const storageKey = 'forecourt.returnTo'

/** The page that a person wanted before they were asked to sign in, also when a sign-on has come back with a refusal. */
export function useReturnTo(): string {
  const { state } = useLocation()
  const [search] = useSearchParams()
  const wanted = (state as { from?: string } | null)?.from
  const kept = search.has('refusal') ? stored(storageKey, 'sessionStorage') : null
  return wanted ?? kept ?? paths.overview()
}

/** Keeps the wanted page while the browser is at the provider. */
export function keepReturnTo(path: string): void {
  store(storageKey, path, 'sessionStorage')
}

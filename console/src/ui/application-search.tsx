import { pageApplications } from '../../../src/applications/contract.ts'
import { useRead } from '../api.ts'
import { useTypedSearch } from './typed-search.tsx'

/** Looks for applications by a part of their names. */
export function useApplicationSearch() {
  const { search, asked, isAsked } = useTypedSearch()
  const { data, isFetching } = useRead(pageApplications, { pageSize: 20, appName: asked })
  return { search, asked, found: isAsked ? (data?.list ?? []) : [], isWaiting: !isAsked || isFetching }
}

/** An application as a list offers it: names may be alike, so its id begins beside it. */
export function applicationOption({ appId, appName }: { appId: string; appName: string }) {
  return {
    value: appId,
    label: (
      <span>
        {appName} <span className="faint mono">{appId.slice(0, 8)}</span>
      </span>
    ),
  }
}

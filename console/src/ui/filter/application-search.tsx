import { pageApplications } from '../../../../src/applications/contract.ts'
import { useRead } from '../../api/api.ts'
import { useTypedSearch } from './typed-search.tsx'

/** Searches applications by a part of their names. */
export function useApplicationSearch() {
  const { search, asked, isAsked } = useTypedSearch()
  const { data, isFetching } = useRead(pageApplications, { pageSize: 20, appName: asked })
  return { search, asked, found: isAsked ? (data?.list ?? []) : [], isWaiting: !isAsked || isFetching }
}

/** An option of a list: an application's name and the beginning of its id, because names may be alike. */
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

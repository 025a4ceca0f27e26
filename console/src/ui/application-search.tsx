import { useEffect, useState } from 'react'
import { pageApplications } from '../../../src/applications/contract.ts'
import { useRead } from '../api.ts'

/** Looks for applications by a part of their names, a moment after the last key: `asked` is what was asked for last. */
export function useApplicationSearch() {
  const [name, search] = useState('')
  const [asked, setAsked] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setAsked(name), 250)
    return () => clearTimeout(timer)
  }, [name])
  const { data, isFetching } = useRead(pageApplications, { pageSize: 20, appName: asked }, { keepsPrevious: true })
  return { search, asked, found: data?.list ?? [], isFetching }
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

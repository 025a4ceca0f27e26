import { Link } from 'react-router'
import { getApplication } from '../../../../src/applications/contract.ts'
import { reading, useSession } from '../../api/api.ts'
import { useCommon } from '../../language/index.ts'
import { paths } from '../../paths.ts'
import { useShared } from '../table/of-rows.ts'
import type { Column } from '../table/records.tsx'
import { leastForNames, widthOf } from '../table/rows.tsx'

/** The name of an application, once loaded, as a link to its page; its id if the user may not see it. */
export function ApplicationName({ appId }: { appId: string }) {
  const { appIds } = useSession()
  const maySee = appIds === null || appIds.includes(appId)
  if (!maySee) return <span className="mono">{appId}</span>
  return (
    <Link to={paths.application(appId)} title={appId}>
      <ApplicationLabel appId={appId} />
    </Link>
  )
}

/** The name without a link. */
export function ApplicationLabel({ appId }: { appId: string }) {
  const data = useShared(reading(getApplication, { appId }))
  return <>{data?.appName ?? <span className="mono">{appId.slice(0, 8)}</span>}</>
}

/**
 * The column of a row's application, in a list of all applications; none in a list of one. `ownOrder` says the list's
 * own order, if that is by application.
 */
export function useApplicationColumn<Item extends { appId: string | null }>(
  chosen: string,
  ownOrder?: string,
): Column<Item>[] {
  const t = useCommon()
  if (chosen !== '') return []
  return [
    {
      key: 'appId',
      title: t('application'),
      ...(ownOrder !== undefined && { ownOrder }),
      isFixed: true,
      // Of one line and one width, because the names arrive after the rows, which must not move then.
      least: leastForNames,
      render: ({ appId }) =>
        appId !== null && (
          <span className="one-line" style={{ maxWidth: widthOf(104) }}>
            <ApplicationName appId={appId} />
          </span>
        ),
    },
  ]
}

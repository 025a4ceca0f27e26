import { Link } from 'react-router'
import { getApplication } from '../../../src/applications/contract.ts'
import { useRead } from '../api.ts'
import { paths } from '../paths.ts'
import { useSession } from '../session.tsx'
import type { Column } from './records.tsx'
import { useCommon } from './texts.ts'

/** An application by its name, as soon as it is known, with the way to its page; by its id to who may not see it. */
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

/** The name alone. */
export function ApplicationLabel({ appId }: { appId: string }) {
  const { data } = useRead(getApplication, { appId })
  return <>{data?.appName ?? <span className="mono">{appId.slice(0, 8)}</span>}</>
}

/** Whose each row is, in a list that shows all applications; nothing in a list of one. */
export function useApplicationColumn<Item extends { appId: string | null }>(chosen: string): Column<Item>[] {
  const t = useCommon()
  if (chosen !== '') return []
  return [
    {
      key: 'appId',
      title: t('application'),
      isFixed: true,
      most: 120,
      render: (_, { appId }) => appId !== null && <ApplicationName appId={appId} />,
    },
  ]
}

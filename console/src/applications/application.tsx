import type { ReactNode } from 'react'
import { Link, Navigate, useParams } from 'react-router'
import { type ApplicationRecord, getApplication } from '../../../src/applications/contract.ts'
import { pageOperators } from '../../../src/people/operators/contract.ts'
import { useMay, useRead } from '../api/api.ts'
import { paths } from '../paths.ts'
import { Button } from '../ui/page/button.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { Parts } from '../ui/page/parts.tsx'
import { RefusalResult } from '../ui/page/refusal.tsx'
import { Result } from '../ui/page/result.tsx'
import { ApplicationState } from '../ui/text/status.tsx'
import { Actions } from './actions.tsx'
import { CallbackTab } from './callback.tsx'
import { BillingRulesTab, DevicesTab, EventsTab, MembersTab, SitesTab } from './lists.tsx'
import { OverviewTab } from './overview.tsx'
import { useTexts } from './texts.ts'

const tabs = {
  overview: OverviewTab,
  callback: CallbackTab,
  sites: SitesTab,
  devices: DevicesTab,
  'billing-rules': BillingRulesTab,
  events: EventsTab,
  members: MembersTab,
} satisfies Record<string, (props: { application: ApplicationRecord }) => ReactNode>

type Tab = keyof typeof tabs

/** One application. The address names the tab that is shown. */
export function Page() {
  const { appId = '', tab = '' } = useParams()
  const may = useMay()
  const offered = (Object.keys(tabs) as Tab[]).filter((key) => key !== 'members' || may(pageOperators))
  // Every tab has an address of its own, also the first, so that changing the tab keeps the page and the focus.
  if (!(offered as string[]).includes(tab)) return <Navigate to={paths.application(appId, 'overview')} replace />
  return <Application appId={appId} tab={tab as Tab} offered={offered} key={appId} />
}

function Application({ appId, tab, offered }: { appId: string; tab: Tab; offered: Tab[] }) {
  const t = useTexts()
  const { data, error, refetch } = useRead(getApplication, { appId }, { live: appId })
  if (data === undefined) {
    return (
      <PageFrame title={t('application')} operation={getApplication}>
        {error === null && <Loading />}
        {error !== null &&
          (error.code === 10004 ? <Missing /> : <RefusalResult error={error} retry={() => void refetch()} />)}
      </PageFrame>
    )
  }
  const Part = tabs[tab]
  return (
    <PageFrame
      title={data.appName}
      beside={<ApplicationState application={data} />}
      actions={<Actions application={data} />}
      operation={getApplication}
    >
      <Parts
        label={t('tabs')}
        current={tab}
        parts={offered.map((key) => ({ key, title: t(`tab_${key}`), path: paths.application(appId, key) }))}
      />
      <Part application={data} />
    </PageFrame>
  )
}

function Missing() {
  const t = useTexts()
  return (
    <Result
      status="info"
      title={t('notFound')}
      extra={
        <Link to={paths.applications()}>
          <Button tabIndex={-1}>{t('toList')}</Button>
        </Link>
      }
    />
  )
}

import { PlusOutlined } from '@ant-design/icons'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { type ApplicationRecord, createApplication, pageApplications } from '../../../src/applications/contract.ts'
import { useMay, useSession } from '../api/api.ts'
import { paths } from '../paths.ts'
import { ChoiceFilter, TextFilter, useFilters } from '../ui/filter/filters.tsx'
import { Button } from '../ui/page/button.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { leastForNames } from '../ui/table/rows.tsx'
import { grouped } from '../ui/text/number.ts'
import { OnlineState, State } from '../ui/text/status.tsx'
import { FilterBar } from '../views/filter-bar.tsx'
import { CreateApplication } from './create.tsx'
import { durationWords, useTexts } from './texts.ts'

const filterNames = ['appName', 'onlineStatus', 'status'] as const

/** Every application that the user may see. */
export function Page() {
  const t = useTexts()
  const may = useMay()
  const { appIds } = useSession()
  const navigate = useNavigate()
  const filters = useFilters(filterNames)
  const { values, of } = filters
  const [isCreating, setCreating] = useState(false)
  const mayCreate = may(createApplication)
  const createButton = mayCreate && (
    <Button type="primary" icon={<PlusOutlined />} onClick={() => setCreating(true)}>
      {t('newApplication')}
    </Button>
  )
  return (
    <PageFrame operation={pageApplications} actions={createButton}>
      <section className="card">
        <FilterBar views="applications" values={values}>
          <TextFilter label={t('appName')} {...of('appName')} width={240} />
          <ChoiceFilter
            label={t('onlineStatus')}
            {...of('onlineStatus')}
            choices={{ 1: t('online'), 2: t('offline') }}
          />
          <ChoiceFilter label={t('status')} {...of('status')} choices={{ 1: t('normal'), 2: t('frozen') }} />
        </FilterBar>
        <Records
          name="applications"
          operation={pageApplications}
          input={values}
          columns={useColumns()}
          rowKey={({ appId }) => appId}
          filters={filters}
          empty={appIds === null ? t('noneYet') : t('noneOfYours')}
          onRow={({ appId }) => ({ onClick: () => void navigate(paths.application(appId)) })}
        />
      </section>
      {mayCreate && <CreateApplication isOpen={isCreating} onClose={() => setCreating(false)} />}
    </PageFrame>
  )
}

function useColumns(): Column<ApplicationRecord>[] {
  const t = useTexts()
  return [
    {
      key: 'appName',
      sortBy: 'appName',
      title: t('appName'),
      isFixed: true,
      most: 200,
      least: leastForNames,
      render: ({ appId, appName }) => <Link to={paths.application(appId)}>{appName}</Link>,
    },
    { key: 'appId', sortBy: 'appId', title: t('appId'), className: 'mono' },
    {
      key: 'onlineStatus',
      sortBy: 'onlineStatus',
      title: t('onlineStatus'),
      render: ({ onlineStatus }) => <OnlineState status={onlineStatus} />,
    },
    {
      key: 'status',
      sortBy: 'status',
      title: t('status'),
      render: (application) => <FrozenState application={application} />,
    },
    {
      key: 'tokenLifetimeSeconds',
      isExtra: 1200,
      title: t('tokenLifetime'),
      align: 'end',
      className: 'number',
      render: ({ tokenLifetimeSeconds }) => durationWords(t, tokenLifetimeSeconds),
    },
    {
      key: 'rateLimitPerSecond',
      title: t('rateLimit'),
      align: 'end',
      className: 'number',
      render: ({ rateLimitPerSecond }) =>
        rateLimitPerSecond === null ? t('noLimit') : t('perSecond', { rate: grouped(rateLimitPerSecond) }),
    },
    { key: 'frozenReason', title: t('frozenReason'), isExtra: true },
    { key: 'createTime', sortBy: 'createTime', title: t('createTime'), className: 'number' },
  ]
}

export function FrozenState({ application }: { application: Pick<ApplicationRecord, 'status'> }) {
  const t = useTexts()
  return application.status === 2 ? <State tone="bad">{t('frozen')}</State> : <State tone="good">{t('normal')}</State>
}

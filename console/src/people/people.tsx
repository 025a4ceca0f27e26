import { Tabs } from 'antd'
import { useSearchParams } from 'react-router'
import { pageOperatorKeys, pageOperators } from '../../../src/people/operators/contract.ts'
import { pageSessions } from '../../../src/people/sessions/contract.ts'
import { Page as PageFrame } from '../ui/page.tsx'
import { Keys } from './keys.tsx'
import { Operators } from './operators.tsx'
import { Sessions } from './sessions.tsx'
import { useTexts } from './texts.ts'

const operations = { operators: pageOperators, keys: pageOperatorKeys, sessions: pageSessions }
const tabs = ['operators', 'keys', 'sessions'] as const

/** Access to the platform: accounts, operator keys and sessions. */
export function Page() {
  const t = useTexts()
  const [search, setSearch] = useSearchParams()
  const tab = tabs.find((known) => known === search.get('tab')) ?? 'operators'
  const contents = { operators: <Operators />, keys: <Keys />, sessions: <Sessions /> }
  return (
    <PageFrame title={t('title')} operation={operations[tab]} needs={pageOperators}>
      <Tabs
        activeKey={tab}
        onChange={(key) => setSearch({ tab: key })}
        items={tabs.map((key) => ({ key, label: t(key), children: contents[key] }))}
        destroyOnHidden
      />
    </PageFrame>
  )
}

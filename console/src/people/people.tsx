import { Tabs } from 'antd'
import { useSearchParams } from 'react-router'
import { pageOperatorKeys, pageOperators } from '../../../src/operators/contract.ts'
import { pageSessions } from '../../../src/sessions/contract.ts'
import { useMay } from '../session.tsx'
import { Page as PageFrame } from '../ui/page.tsx'
import { RefusalResult } from '../ui/refusal.tsx'
import { Keys } from './keys.tsx'
import { Operators } from './operators.tsx'
import { Sessions } from './sessions.tsx'
import { useTexts } from './texts.ts'

/** As the service would refuse it. */
const notPermitted = Object.assign(new Error(), { code: 10003 })

const operations = { operators: pageOperators, keys: pageOperatorKeys, sessions: pageSessions }
const tabs = ['operators', 'keys', 'sessions'] as const

/** Who may act on the platform: people, programs' keys, and who is signed in. */
export function Page() {
  const t = useTexts()
  const may = useMay()
  const [search, setSearch] = useSearchParams()
  const tab = tabs.find((known) => known === search.get('tab')) ?? 'operators'
  if (!may(pageOperators)) {
    return (
      <PageFrame title={t('title')}>
        <RefusalResult error={notPermitted} />
      </PageFrame>
    )
  }
  const contents = { operators: <Operators />, keys: <Keys />, sessions: <Sessions /> }
  return (
    <PageFrame title={t('title')} operation={operations[tab]}>
      <Tabs
        activeKey={tab}
        onChange={(key) => setSearch({ tab: key })}
        items={tabs.map((key) => ({ key, label: t(key), children: contents[key] }))}
        destroyOnHidden
      />
    </PageFrame>
  )
}

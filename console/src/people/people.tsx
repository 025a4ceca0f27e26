import { useSearchParams } from 'react-router'
import { pageOperatorKeys, pageOperators } from '../../../src/people/operators/contract.ts'
import { pageSessions } from '../../../src/people/sessions/contract.ts'
import { paths } from '../paths.ts'
import { useFilters } from '../ui/filter/filters.tsx'
import { Button } from '../ui/page/button.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { Parts } from '../ui/page/parts.tsx'
import { Keys } from './keys.tsx'
import { Operators } from './operators.tsx'
import { SessionsTable } from './sessions-table.tsx'
import { useTexts } from './texts.ts'

const operations = { operators: pageOperators, keys: pageOperatorKeys, sessions: pageSessions }
const tabs = ['operators', 'keys', 'sessions'] as const

/** Access to the platform: accounts, operator keys and sessions. */
export function Page() {
  const t = useTexts()
  const [search] = useSearchParams()
  const tab = tabs.find((known) => known === search.get('tab')) ?? 'operators'
  const contents = { operators: <Operators />, keys: <Keys />, sessions: <Sessions /> }
  return (
    <PageFrame operation={operations[tab]} needs={pageOperators}>
      <Parts
        label={t('tabs')}
        current={tab}
        parts={tabs.map((key) => ({
          key,
          title: t(key === 'operators' ? 'accounts' : key),
          path: paths.people({ tab: key }),
        }))}
      />
      {contents[tab]}
    </PageFrame>
  )
}

/** All sessions of the platform. */
function Sessions() {
  const t = useTexts()
  const filters = useFilters(['operatorId'] as const)
  const { values } = filters
  return (
    <section className="card">
      {values.operatorId !== '' && (
        <p className="flush-above">
          {t('onlyOne', { id: values.operatorId })}{' '}
          <Button size="small" onClick={filters.clear}>
            {t('clearFilters')}
          </Button>
        </p>
      )}
      <SessionsTable name="everySession" input={values} filters={filters} />
    </section>
  )
}

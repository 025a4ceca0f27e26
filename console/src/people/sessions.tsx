import { useFilters } from '../ui/filter/filters.tsx'
import { Button } from '../ui/page/button.tsx'
import { SessionsTable } from './sessions-table.tsx'
import { useTexts } from './texts.ts'

/** All sessions of the platform. */
export function Sessions() {
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

import { Button } from 'antd'
import { useFilters } from '../ui/filter/filters.tsx'
import { useCommon } from '../ui/text/texts.ts'
import { SessionsTable } from './sessions-table.tsx'
import { useTexts } from './texts.ts'

/** All sessions of the platform. */
export function Sessions() {
  const t = useTexts()
  const common = useCommon()
  const { values, clear, isNarrowed } = useFilters(['operatorId'] as const)
  return (
    <section className="card">
      {values.operatorId !== '' && (
        <p style={{ marginTop: 0 }}>
          {t('onlyOne', { id: values.operatorId })}{' '}
          <Button size="small" onClick={() => clear()}>
            {common('clearFilters')}
          </Button>
        </p>
      )}
      <SessionsTable name="everySession" input={values} isNarrowed={isNarrowed()} clear={() => clear()} />
    </section>
  )
}

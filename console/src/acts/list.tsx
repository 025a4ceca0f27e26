import { type ActRecord, pageActs } from '../../../src/bulk/acts/contract.ts'
import { JobList } from '../jobs/list.tsx'
import { paths } from '../paths.ts'
import { useActTitle } from './parts.tsx'
import { useTexts } from './texts.ts'

/** The recent bulk actions, of all applications or of one. */
export function Page() {
  const t = useTexts()
  return (
    <JobList<ActRecord>
      name="acts"
      operation={pageActs}
      words={{ one: t('one'), kind: t('kind'), started: t('started'), week: t('week'), none: t('none') }}
      kinds={{ devices: t('devices'), sites: t('sites') }}
      titleOf={useActTitle()}
      pathOf={paths.act}
      counts={{ rows: t('rows'), done: t('done'), unchanged: t('unchanged'), refused: t('refused') }}
    />
  )
}

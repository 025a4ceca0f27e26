import { Link } from 'react-router'
import { createImport, type ImportRecord, pageImports } from '../../../src/bulk/contract.ts'
import { useMay } from '../api/api.ts'
import { JobList, useJobFilters } from '../jobs/list.tsx'
import { paths } from '../paths.ts'
import { LinkButton } from '../ui/page/button.tsx'
import { showBytes } from './parts.tsx'
import { useTexts } from './texts.ts'

/** The recent imports, of all applications or of one. */
export function Page() {
  const t = useTexts()
  const may = useMay()
  const { appId, kind } = useJobFilters().values
  const newImport = paths.newImport({ appId, kind })
  const mayCreate = may(createImport)
  return (
    <JobList<ImportRecord>
      name="imports"
      operation={pageImports}
      words={{ one: t('import'), kind: t('kind'), started: t('started'), week: t('week'), none: t('none') }}
      kinds={{
        sites: t('sites'),
        devices: t('devices'),
        placements: t('placements'),
        inventory: t('inventory'),
      }}
      titleOf={({ id, kind }) => t('jobTitle', { id, kind: t(kind) })}
      pathOf={paths.import}
      counts={{
        rows: t('rowCount'),
        created: t('created'),
        updated: t('updated'),
        existing: t('existing'),
        refused: t('refused'),
      }}
      others={[
        {
          key: 'size',
          title: t('size'),
          align: 'end',
          className: 'number',
          isExtra: true,
          render: ({ bytes }) => showBytes(bytes),
        },
      ]}
      actions={
        mayCreate && (
          <LinkButton type="primary" to={newImport}>
            {t('newTitle')}
          </LinkButton>
        )
      }
      next={mayCreate && <Link to={newImport}>{t('newTitle')}</Link>}
    />
  )
}

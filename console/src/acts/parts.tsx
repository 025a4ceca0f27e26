import type { ActKind, ActName, ActRecord } from '../../../src/bulk/acts/contract.ts'
import { paths } from '../paths.ts'
import { Figure } from '../ui/figure.tsx'
import { useTexts } from './texts.ts'

/** How many of an act's rows have an outcome. */
export const decidedOf = ({ done, unchanged, refused }: ActRecord) => done + unchanged + refused

/** How far an act is, in whole per cent. */
export const percentOf = (act: ActRecord) => Math.floor((decidedOf(act) / Math.max(1, act.rows)) * 100)

/** The name of an act, such as "Transfer devices". */
export function useActName(): (kind: ActKind, act: ActName) => string {
  const t = useTexts()
  return (kind, act) => t(`act_${kind}_${act}` as 'act_sites_update')
}

/** The counts of an act, each a link to its rows. */
export function ActCounts({ act }: { act: ActRecord }) {
  const t = useTexts()
  const { id, rows, done, unchanged, refused } = act
  return (
    <div className="grid-cards">
      <Figure name={t('rows')} value={rows} to={paths.act(id, { outcome: 'all' })} />
      <Figure name={t('done')} value={done} to={paths.act(id, { outcome: 'done' })} />
      <Figure name={t('unchanged')} value={unchanged} to={paths.act(id, { outcome: 'unchanged' })} />
      <Figure name={t('refused')} value={refused} isBad to={paths.act(id, { outcome: 'refused' })} />
    </div>
  )
}

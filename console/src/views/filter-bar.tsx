import { FilterOutlined } from '@ant-design/icons'
import { type ReactNode, useState } from 'react'
import type { ViewedPage } from '../../../src/people/views/contract.ts'
import { useCommon } from '../language/index.ts'
import { countFilters } from '../ui/filter/filter-count.ts'
import { Button } from '../ui/page/button.tsx'
import { useIsNarrow } from '../ui/page/narrow.ts'
import { Views } from './views.tsx'

interface FilterBarProps {
  /** The filters' values, to count those that are set. */
  values: Record<string, string>
  /** The list, whose views can be saved. */
  views: ViewedPage
  /** Other elements beside the filters. */
  beside?: ReactNode
  children: ReactNode
}

/** A page's filters; on a narrow screen, folded behind a button that shows how many are set. */
export function FilterBar({ values, views, beside, children }: FilterBarProps) {
  const t = useCommon()
  const [isOpen, setOpen] = useState(false)
  const isShown = !useIsNarrow() || isOpen
  const count = countFilters(values)
  return (
    <search className={isOpen ? 'filters filters-open' : 'filters'}>
      <Button
        className="filters-fold"
        icon={<FilterOutlined />}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {count === 0 ? t('filters') : t('filtersSet', { count })}
      </Button>
      <div className="filters-all">
        {isShown && children}
        {isShown && <Views page={views} />}
      </div>
      {beside}
    </search>
  )
}

import { useMemo, useState } from 'react'
import type { SiteRecord } from '../../../src/sites/contract.ts'
import { type Box, readBbox } from '../../../src/vocabulary/coordinates.ts'
import { PointMap } from '../map/point-map.tsx'
import { pointOf, useSitePoints } from '../map/site-points.ts'
import { writeBox } from '../map/view.ts'
import { SiteDevices } from '../placements/parts.tsx'
import { Button } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { grouped } from '../ui/text/number.ts'
import { SiteLink } from './show.tsx'
import { useTexts } from './texts.ts'

interface SitesMapProps {
  /** The filters. */
  input: Record<string, unknown>
  bbox: string
  onBbox: (bbox: string) => void
}

/** The matching sites on a map, with a button to search in the visible part. */
export function SitesMap({ input, bbox, onBbox }: SitesMapProps) {
  const t = useTexts()
  const { data, error, isPending, refetch } = useSitePoints(input)
  const [chosen, setChosen] = useState<number[]>([])
  const [area, setArea] = useState<Box>()
  const sites = data?.sites
  const points = useMemo(() => (sites ?? []).flatMap(pointOf), [sites])
  const here = (sites ?? []).filter(({ id }) => chosen.includes(id))
  return (
    <section aria-label={t('mapLabel')}>
      <div className="buttons spaced-little">
        <Button disabled={area === undefined} onClick={() => area && onBbox(writeBox(area))}>
          {t('searchHere')}
        </Button>
        {bbox !== '' && <Button onClick={() => onBbox('')}>{t('clearArea')}</Button>}
      </div>
      {error !== null && (
        <Note
          type="error"
          words={t('pointsFailed')}
          action={<Button onClick={() => void refetch()}>{t('retry')}</Button>}
        >
          {error.reason}
        </Note>
      )}
      <PointMap
        label={t('mapLabel')}
        height="min(60vh, 560px)"
        points={points}
        chosen={chosen}
        area={bbox === '' ? undefined : readBbox(bbox)}
        onArea={setArea}
        onSelect={setChosen}
      >
        <Here sites={here} />
      </PointMap>
      <output className="map-words">
        {isPending ? (
          t('readingPoints')
        ) : (
          <Counts points={points.length} sites={sites?.length ?? 0} hasMore={data?.hasMore} />
        )}
      </output>
    </section>
  )
}

function Counts({ points, sites, hasMore }: { points: number; sites: number; hasMore: boolean | undefined }) {
  const t = useTexts()
  return (
    <>
      {hasMore ? t('shownSome', { read: grouped(sites) }) : t('shown', { count: grouped(points) })}
      {sites > points && ` ${t('noPlace', { count: grouped(sites - points) })}`}
    </>
  )
}

/** The sites that were clicked on the map. */
function Here({ sites }: { sites: SiteRecord[] }) {
  const t = useTexts()
  if (sites.length === 0) return null
  return (
    <div className="map-here" role="status">
      {sites.length > 1 && <strong>{t('chosenSites', { count: sites.length })}</strong>}
      <ul className="plain-list">
        {sites.map((site) => (
          <li key={site.id}>
            <SiteLink site={site} /> <span className="faint">{site.detailAddress ?? site.districtName}</span>{' '}
            <SiteDevices site={site} among={sites} />
          </li>
        ))}
      </ul>
    </div>
  )
}

import { lazy, type ReactNode, Suspense } from 'react'
import { getSettings } from '../../../src/people/sessions/contract.ts'
import { getRegionTree } from '../../../src/regions/contract.ts'
import { useRead } from '../api/api.ts'
import { Loading } from '../ui/page/loading.tsx'
import './map.css'
import type { MapProps } from './point.ts'
import { useTexts } from './texts.ts'

const Drawing = lazy(() => import('./map.tsx').catch(() => ({ default: NoDrawing })))

interface PointMapProps extends MapProps {
  height: number | string
  /** Shown over the lower edge of the map. */
  children?: ReactNode
}

/** A map of points: with the configured base map, or without one with the names of places. */
export function PointMap({ height, children, ...props }: PointMapProps) {
  const { data, isPending } = useRead(getSettings, {})
  const provinces = useRead(getRegionTree, { depth: 1 }).data?.list
  return (
    <div className="map-ground" style={{ height }}>
      {!isPending && (
        <Suspense fallback={<Loading />}>
          <Drawing tileUrl={data?.mapTileUrl ?? null} provinces={provinces} {...props} />
        </Suspense>
      )}
      {children}
    </div>
  )
}

/** If the library fails to load, the rest of the page still works. */
function NoDrawing() {
  const t = useTexts()
  return <div className="map-note">{t('failed')}</div>
}

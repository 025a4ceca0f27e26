import { lazy, Suspense, useState } from 'react'
import { getSettings } from '../../../src/sessions/contract.ts'
import { useRead } from '../api.ts'
import { useLanguage } from '../language/index.ts'
import { useShade } from '../theme.tsx'
import { Loading } from '../ui/loading.tsx'
import type { MapProps } from './contract.ts'
import './map.css'
import { Scatter } from './scatter.tsx'
import { useTexts } from './texts.ts'

// Where the library cannot be loaded, the plain drawing still shows where things are.
const FullMap = lazy(() => import('./map.tsx').catch(() => ({ default: Scatter })))

let canDraw: boolean | undefined

/** Whether this browser has WebGL, which headless browsers and old machines may lack. Asked once. */
function hasWebGl(): boolean {
  canDraw ??= tryWebGl()
  return canDraw
}

function tryWebGl(): boolean {
  const canvas = document.createElement('canvas')
  const context = canvas.getContext('webgl2', { failIfMajorPerformanceCaveat: false })
  // A page has few of them, and the map needs one.
  context?.getExtension('WEBGL_lose_context')?.loseContext()
  return context !== null
}

interface PointMapProps extends Omit<MapProps, 'tileUrl' | 'onFail'> {
  height: number | string
}

/** A map of points: with WebGL in full, without it drawn plainly, with the base map that the service is configured with. */
export function PointMap({ height, ...props }: PointMapProps) {
  const t = useTexts()
  const language = useLanguage()
  const { isDark } = useShade()
  const { data, isPending } = useRead(getSettings, {})
  const [isFull, setFull] = useState(hasWebGl)
  const tileUrl = data?.mapTileUrl ?? null
  return (
    <figure className="map">
      <div className="map-ground" style={{ height }}>
        {isFull ? (
          !isPending && (
            <Suspense fallback={<Loading />}>
              <FullMap
                key={`${language} ${isDark} ${tileUrl}`}
                tileUrl={tileUrl}
                onFail={() => setFull(false)}
                {...props}
              />
            </Suspense>
          )
        ) : (
          <Scatter tileUrl={null} {...props} />
        )}
      </div>
      <figcaption>
        {!isFull && <span>{t('noWebGl')} </span>}
        {data?.mapTileUrl === null && <span>{t('noBase')}</span>}
      </figcaption>
    </figure>
  )
}

import type { Map as LibraryMap } from 'maplibre-gl'
import maplibre from 'maplibre-gl/dist/maplibre-gl-csp.js'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-csp-worker.js?url'
import 'maplibre-gl/dist/maplibre-gl.css'
import { useEffect, useRef, useState } from 'react'
import { useShade } from '../theme.tsx'
import type { MapProps } from './contract.ts'
import { answerClick, drawCounts, drawGraticule, featuresOf, shownBox, styleOf } from './drawing.ts'
import { useTexts } from './texts.ts'
import { boxOf } from './view.ts'

maplibre.setWorkerUrl(workerUrl)

/** What a map calls when something happens on it: what the page gave it last. */
type Latest = MapProps & { t: ReturnType<typeof useTexts>; isDark: boolean }

/**
 * The map in full, by WebGL. It is loaded where one is shown, because the library is large. It is made once, with the
 * base map, the shade and the language of that moment; whoever shows it gives it a key of these.
 */
export default function FullMap(props: MapProps) {
  const { points, area } = props
  const t = useTexts()
  const { isDark } = useShade()
  const ground = useRef<HTMLDivElement>(null)
  const degrees = useRef<HTMLDivElement>(null)
  const counts = useRef<HTMLDivElement>(null)
  const latest = useRef<Latest>({ ...props, t, isDark })
  const [map, setMap] = useState<LibraryMap>()
  const [hasFailedTiles, setFailedTiles] = useState(false)
  useEffect(() => {
    latest.current = { ...props, t, isDark }
  })

  useEffect(() => {
    if (ground.current === null || degrees.current === null || counts.current === null) return
    const grounds = { ground: ground.current, degrees: degrees.current, counts: counts.current }
    const made = tryToMake(grounds, latest)
    if (made === undefined) return
    // Without this listener the library writes each tile that is missing to the browser's console.
    made.on('error', () => setFailedTiles(true))
    // Not `load`, which waits for the base map's tiles: the points do not.
    made.on('style.load', () => setMap(made))
    return () => {
      setMap(undefined)
      made.remove()
    }
  }, [])

  useEffect(() => {
    map?.getSource<maplibre.GeoJSONSource>('points')?.setData(featuresOf(points))
  }, [map, points])

  const { minLng, minLat, maxLng, maxLat } = area ?? boxOf(points)
  useEffect(() => {
    const corners: [[number, number], [number, number]] = [
      [minLng, minLat],
      [maxLng, maxLat],
    ]
    map?.fitBounds(corners, { animate: false, maxZoom: 15 })
  }, [map, minLng, minLat, maxLng, maxLat])

  return (
    <>
      <div ref={ground} className={`map-canvas${props.onPick ? ' map-picks' : ''}`} />
      <div ref={degrees} className="map-words-above" aria-hidden />
      <div ref={counts} className="map-words-above map-counts" aria-hidden />
      {hasFailedTiles && <div className="map-note">{t('tilesFailed')}</div>}
    </>
  )
}

/** A browser that has WebGL may still have none to spare: then the page is told. */
function tryToMake(grounds: Grounds, latest: { current: Latest }): LibraryMap | undefined {
  try {
    return makeMap(grounds, latest)
  } catch {
    latest.current.onFail?.()
    return undefined
  }
}

/** The elements that a map is made in: its own, and those for the words above it, which it cannot draw. */
interface Grounds {
  ground: HTMLDivElement
  degrees: HTMLElement
  counts: HTMLElement
}

function makeMap({ ground, degrees, counts }: Grounds, latest: { current: Latest }): LibraryMap {
  const { area, points, tileUrl, isDark, label, t } = latest.current
  const { minLng, minLat, maxLng, maxLat } = area ?? boxOf(points)
  const map = new maplibre.Map({
    container: ground,
    style: styleOf(tileUrl, isDark),
    locale: {
      'Map.Title': label,
      'NavigationControl.ZoomIn': t('zoomIn'),
      'NavigationControl.ZoomOut': t('zoomOut'),
      'CooperativeGesturesHandler.WindowsHelpText': t('scrollHelp'),
      'CooperativeGesturesHandler.MacHelpText': t('scrollHelpMac'),
      'CooperativeGesturesHandler.MobileHelpText': t('touchHelp'),
    },
    bounds: [minLng, minLat, maxLng, maxLat],
    fitBoundsOptions: { maxZoom: 15 },
    maxZoom: 19,
    renderWorldCopies: false,
    dragRotate: false,
    touchPitch: false,
    pitchWithRotate: false,
    attributionControl: false,
    // One finger scrolls the page on which the map stands.
    cooperativeGestures: matchMedia('(pointer: coarse)').matches,
  })
  map.touchZoomRotate.disableRotation()
  map.keyboard.disableRotation()
  map.addControl(new maplibre.NavigationControl({ showCompass: false }), 'top-right')
  const drawLines = () => drawGraticule(map, degrees, tileUrl !== null)
  const tellArea = () => latest.current.onArea?.(shownBox(map))
  map.on('style.load', () => {
    drawLines()
    tellArea()
  })
  map.on('move', drawLines)
  map.on('resize', drawLines)
  map.on('moveend', tellArea)
  map.on('render', () => drawCounts(map, counts))
  map.on('click', (event) => void answerClick(map, event, latest.current))
  return map
}

import { ExpandOutlined, MinusOutlined, PlusOutlined } from '@ant-design/icons'
import L from 'leaflet'
import 'leaflet/dist/leaflet.css'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { Box } from '../../../src/vocabulary/coordinates.ts'
import { Button } from '../ui/page/button.tsx'
import type { MapProps, Point } from './point.ts'
import { provinceSeats } from './provinces.ts'
import { useTexts } from './texts.ts'
import {
  boxOf,
  clamped,
  type Group,
  graticuleOf,
  groupsOf,
  halfSizeOf,
  latitudeName,
  longitudeName,
  placeNames,
} from './view.ts'

/** From this zoom on, a click on a group does not zoom in further but offers its points as a list. */
const farthestZoom = 17

interface DrawingProps extends MapProps {
  /** Tiles of a base map; null for none. */
  tileUrl: string | null
  /** The provinces of the division table. */
  provinces: readonly { code: string; name: string }[] | undefined
}

/** The map itself, loaded only where a map is shown, because its library is large. */
export default function Drawing(props: DrawingProps) {
  const { label, points, chosen = none, ring, area, tileUrl, provinces } = props
  const t = useTexts()
  const ground = useRef<HTMLDivElement>(null)
  const degrees = useRef<HTMLDivElement>(null)
  const [map, setMap] = useState<L.Map>()
  const [hasFailedTiles, setFailedTiles] = useState(false)
  const pick = useEffectEvent(({ lat, lng }: L.LatLng) => props.onPick?.({ longitude: lng, latitude: lat }))
  const tellArea = useEffectEvent((box: Box) => props.onArea?.(box))
  const make = useEffectEvent((element: HTMLElement) => makeMap(element, tileUrl !== null))
  const isPicking = props.onPick !== undefined

  useEffect(() => {
    if (ground.current === null) return
    const made = make(ground.current)
    const observer = new ResizeObserver(() => made.invalidateSize({ animate: false }))
    observer.observe(ground.current)
    made.on('click', ({ latlng }) => pick(latlng))
    made.on('moveend', () => tellArea(shownBox(made)))
    setMap(made)
    return () => {
      observer.disconnect()
      made.remove()
    }
  }, [])

  const all = boxOf(ring === undefined ? points : [...points, ring])
  const { minLng, minLat, maxLng, maxLat } = area ?? all
  useEffect(() => {
    if (map !== undefined) moveTo(map, { minLng, minLat, maxLng, maxLat })
  }, [map, minLng, minLat, maxLng, maxLat])

  useEffect(() => {
    if (map === undefined || tileUrl === null) return
    const tiles = L.tileLayer(tileUrl, { maxZoom: 19 }).addTo(map)
    tiles.on('tileerror', () => setFailedTiles(true))
    return () => void tiles.remove()
  }, [map, tileUrl])

  const choose = useEffectEvent((group: Group) => {
    const isApart = group.points.some(
      ({ longitude, latitude }) => longitude !== group.points[0]?.longitude || latitude !== group.points[0]?.latitude,
    )
    if (isApart && map !== undefined && map.getZoom() < farthestZoom) {
      map.fitBounds(L.latLngBounds(group.points.map(placeOf)), { maxZoom: farthestZoom, padding: [24, 24] })
    } else props.onSelect?.(group.points.map(({ id }) => id))
  })

  useEffect(() => {
    if (map === undefined) return
    const drawn = L.layerGroup().addTo(map)
    const hasBase = tileUrl !== null
    const draw = () => {
      drawn.clearLayers()
      // Without a base map, lines of longitude and latitude give orientation.
      if (!hasBase) drawLines(map, drawn)
      const groups = groupsOf(points, pixelsOf(map))
      for (const group of groups) drawGroup(drawn, group, chosen, isPicking ? undefined : choose)
      if (!hasBase) drawNames(map, drawn, groups, provinces)
    }
    const drawDegrees = () => degrees.current && !hasBase && writeDegrees(map, degrees.current)
    draw()
    drawDegrees()
    const drawnRing = ring && mark(placeOf(ring), 'map-ring', '', false).addTo(map)
    map.on('moveend', draw).on('move', drawDegrees)
    return () => {
      map.off('moveend', draw).off('move', drawDegrees)
      drawn.remove()
      drawnRing?.remove()
    }
  }, [map, points, chosen, ring, provinces, tileUrl, isPicking])

  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a map is no set of form fields */}
      <div ref={ground} className={`map-canvas${isPicking ? ' map-picks' : ''}`} role="group" aria-label={label} />
      <div ref={degrees} className="map-degrees" aria-hidden />
      <div className="map-buttons">
        <Button size="small" icon={<PlusOutlined />} aria-label={t('zoomIn')} onClick={() => map?.zoomIn()} />
        <Button size="small" icon={<MinusOutlined />} aria-label={t('zoomOut')} onClick={() => map?.zoomOut()} />
        <Button
          size="small"
          icon={<ExpandOutlined />}
          aria-label={t('showAll')}
          title={t('showAll')}
          onClick={() => map && moveTo(map, all)}
        />
      </div>
      {hasFailedTiles && <div className="map-note">{t('tilesFailed')}</div>}
    </>
  )
}

const none: readonly number[] = []

/** Moves the map to a part of the globe, no closer than some streets. */
function moveTo(map: L.Map, { minLng, minLat, maxLng, maxLat }: Box): void {
  map.fitBounds(
    [
      [minLat, minLng],
      [maxLat, maxLng],
    ],
    { animate: false, maxZoom: 15 },
  )
}

function makeMap(ground: HTMLElement, hasBase: boolean): L.Map {
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
  return L.map(ground, {
    attributionControl: false,
    zoomControl: false,
    // On touch screens one finger scrolls the page; two move and zoom the map.
    dragging: !matchMedia('(pointer: coarse)').matches,
    inertia: !isCalm,
    zoomAnimation: !isCalm,
    fadeAnimation: !isCalm,
    // Only the images of a base map need whole zoom steps to be sharp.
    zoomSnap: hasBase ? 1 : 0.25,
    minZoom: 2,
    maxZoom: 19,
    maxBounds: [
      [-85, -180],
      [85, 180],
    ],
  })
}

const placeOf = ({ longitude, latitude }: { longitude: number; latitude: number }): L.LatLngTuple => [
  latitude,
  longitude,
]

/** Pixels of the whole world at this zoom, not of the view, so that panning does not regroup the points. */
const pixelsOf = (map: L.Map) => (point: Point) => map.project(placeOf(point))

/** The part of the globe that the map shows. */
function shownBox(map: L.Map): Box {
  const bounds = map.getBounds()
  return clamped({
    minLng: bounds.getWest(),
    minLat: bounds.getSouth(),
    maxLng: bounds.getEast(),
    maxLat: bounds.getNorth(),
  })
}

/** Lines at round degrees, far enough apart for their labels. */
const linesOf = (map: L.Map) => graticuleOf(shownBox(map), Math.max(2, Math.min(8, Math.floor(map.getSize().x / 90))))

function drawLines(map: L.Map, drawn: L.LayerGroup): void {
  const { longitudes, latitudes } = linesOf(map)
  const line = (from: L.LatLngTuple, to: L.LatLngTuple) =>
    L.polyline([from, to], { className: 'map-line', weight: 1, interactive: false }).addTo(drawn)
  for (const longitude of longitudes) line([-85, longitude], [85, longitude])
  for (const latitude of latitudes) line([latitude, -180], [latitude, 180])
}

/** Writes the degrees of the lines along the left and the lower edge; in the corner they must not overlap. */
function writeDegrees(map: L.Map, degrees: HTMLElement): void {
  const { longitudes, latitudes } = linesOf(map)
  const { lat, lng } = map.getCenter()
  const { x: width, y: height } = map.getSize()
  degrees.replaceChildren(
    ...longitudes.flatMap((longitude) => {
      const { x } = map.latLngToContainerPoint([lat, longitude])
      return x < 48 || x > width - 48 ? [] : [word(longitudeName(longitude), { left: `${x + 3}px`, bottom: '2px' })]
    }),
    ...latitudes.flatMap((latitude) => {
      const { y } = map.latLngToContainerPoint([latitude, lng])
      return y > height - 36 ? [] : [word(latitudeName(latitude), { left: '4px', top: `${y + 1}px` })]
    }),
  )
}

function word(text: string, place: Partial<CSSStyleDeclaration> = {}): HTMLElement {
  const element = document.createElement('span')
  element.textContent = text
  Object.assign(element.style, place)
  return element
}

function mark(place: L.LatLngTuple, className: string, text: string, isInteractive: boolean): L.Marker {
  // A text node, because a name is not HTML. Keyboard users find the same points in a table.
  const icon = L.divIcon({ className, html: word(text), iconSize: [0, 0] })
  return L.marker(place, { icon, interactive: isInteractive, keyboard: false })
}

function drawGroup(
  drawn: L.LayerGroup,
  group: Group,
  chosen: readonly number[],
  choose: ((group: Group) => void) | undefined,
): void {
  const { points } = group
  const names = [
    'map-point',
    points.length > 1 && 'map-group',
    points.some(({ id }) => chosen.includes(id)) && 'map-chosen',
  ]
  const drawnMark = mark(
    placeOf(group),
    names.filter(Boolean).join(' '),
    points.length === 1 ? '' : String(points.length),
    choose !== undefined,
  )
  if (choose !== undefined) drawnMark.on('click', () => choose(group))
  drawnMark.addTo(drawn)
}

/** The corner that the buttons take, in pixels. */
const buttonsSize = { width: 40, height: 96 }

/** The left, upper, right and lower edge of a name, relative to its point. */
type Edges = readonly [number, number, number, number]

/** The places for a name around its point, the best first. The style sheet has the same measures. */
const sidesOf = (half: number): Record<string, Edges> => ({
  below: [-half, 16, half, 33],
  above: [-half, -33, half, -16],
  right: [20, -9, 20 + 2 * half, 9],
  left: [-20 - 2 * half, -9, -20, 9],
})

/** Writes the names of places with points, then of provinces, beside each place, unless they would cover something. */
function drawNames(map: L.Map, drawn: L.LayerGroup, groups: readonly Group[], provinces: DrawingProps['provinces']) {
  const bounds = map.getBounds()
  // A name stands beside the mark that one sees, the one with the most points of the map.
  const shown = groups
    .filter((group) => bounds.contains(placeOf(group)))
    .toSorted((one, other) => other.points.length - one.points.length)
    .flatMap(({ points, longitude, latitude }) => points.map((point) => ({ ...point, longitude, latitude })))
  const towns = placeNames(shown).map((named) => ({ ...named, isFaint: false }))
  // At a closer zoom a province's name would mislead, because it is drawn at a single point. A municipality's name is
  // its town's.
  const known = (map.getZoom() > 8 ? [] : (provinces ?? [])).flatMap(({ code, name }) => {
    const [longitude, latitude] = provinceSeats[code] ?? []
    const isTown = towns.some((town) => town.name === name)
    return longitude === undefined || latitude === undefined || isTown
      ? []
      : [{ name, longitude, latitude, isFaint: true }]
  })
  const boxAt = (place: L.LatLngTuple, [left, top, right, bottom]: Edges) => {
    const { x, y } = map.latLngToContainerPoint(place)
    return L.bounds([x + left, y + top], [x + right, y + bottom])
  }
  const size = map.getSize()
  const frame = L.bounds([0, 0], size)
  const marks = groups.map((group) => {
    const { width, height } = halfSizeOf(group)
    return boxAt(placeOf(group), [-width, -height, width, height])
  })
  const taken = [...marks, L.bounds([size.x - buttonsSize.width, 0], [size.x, buttonsSize.height])]
  for (const place of [...towns, ...known]) {
    const half = place.name.length * 6.5 + 1
    const found = Object.entries(sidesOf(half)).find(([, edges]) => {
      const box = boxAt(placeOf(place), edges)
      return frame.contains(box) && !taken.some((other) => other.intersects(box))
    })
    if (found === undefined) continue
    const [side, edges] = found
    taken.push(boxAt(placeOf(place), edges))
    const name = `map-name map-${side}${place.isFaint ? ' map-faint' : ''}`
    mark(placeOf(place), name, place.name, false).addTo(drawn)
  }
}

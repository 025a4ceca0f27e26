import { MinusOutlined, PlusOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import { useEffect, useRef, useState } from 'react'
import type { Box } from '../../../src/values.ts'
import type { MapProps } from './contract.ts'
import type { MapPoint, Point } from './point.ts'
import { useTexts } from './texts.ts'
import { boxOf, clamped, graticuleOf, latitudeName, longitudeName } from './view.ts'

/** The middle of what is shown, and how many degrees of longitude a pixel is. */
interface View {
  longitude: number
  latitude: number
  degrees: number
}

interface Size {
  width: number
  height: number
}

const least = 1e-6
const most = 1
/** Points nearer to each other than this, in pixels, are drawn as one. */
const cell = 28

/** A map without WebGL: the points on lines of longitude and latitude, moved and zoomed like the full one. */
export function Scatter({ label, points, area, onArea, onSelect, onPick }: MapProps) {
  const t = useTexts()
  const svg = useRef<SVGSVGElement>(null)
  const size = useSize(svg)
  const { minLng, minLat, maxLng, maxLat } = area ?? boxOf(points)
  const [view, setView] = useState<View>()
  useEffect(() => setView(viewOf({ minLng, minLat, maxLng, maxLat }, size)), [minLng, minLat, maxLng, maxLat, size])
  const tell = useRef(onArea)
  useEffect(() => {
    tell.current = onArea
  })
  useEffect(() => {
    if (view !== undefined) tell.current?.(shownBox(view, size))
  }, [view, size])
  const zoom = (factor: number) => setView((now) => now && zoomed(now, factor))
  useGestures(svg, {
    move: (x, y) => setView((now) => now && moved(now, x, y)),
    zoom,
    click: (x, y) => view && onPick?.(placeAt(view, size, x, y)),
  })
  return (
    <>
      <svg ref={svg} className={`map-scatter${onPick ? ' map-picks' : ''}`} role="img" aria-label={label}>
        {view && <Drawing view={view} size={size} points={points} onSelect={onPick ? undefined : onSelect} />}
      </svg>
      <div className="map-buttons">
        <Button size="small" icon={<PlusOutlined />} aria-label={t('zoomIn')} onClick={() => zoom(0.5)} />
        <Button size="small" icon={<MinusOutlined />} aria-label={t('zoomOut')} onClick={() => zoom(2)} />
      </div>
    </>
  )
}

function useSize(svg: { current: SVGSVGElement | null }): Size {
  const [size, setSize] = useState<Size>({ width: 600, height: 400 })
  useEffect(() => {
    if (svg.current === null) return
    const observer = new ResizeObserver(([entry]) => {
      const { width = 0, height = 0 } = entry?.contentRect ?? {}
      if (width > 0 && height > 0) setSize({ width, height })
    })
    observer.observe(svg.current)
    return () => observer.disconnect()
  }, [svg])
  return size
}

/** A degree of latitude is as long everywhere, and one of longitude shorter the farther from the equator. */
const shrink = (latitude: number) => Math.max(Math.cos((latitude * Math.PI) / 180), 0.1)

function viewOf({ minLng, minLat, maxLng, maxLat }: Box, { width, height }: Size): View {
  const latitude = (minLat + maxLat) / 2
  const degrees = Math.max((maxLng - minLng) / width, (maxLat - minLat) / height / shrink(latitude))
  return { longitude: (minLng + maxLng) / 2, latitude, degrees: Math.min(Math.max(degrees, least), most) }
}

const zoomed = (view: View, factor: number): View => ({
  ...view,
  degrees: Math.min(Math.max(view.degrees * factor, least), most),
})

function moved(view: View, x: number, y: number): View {
  return {
    ...view,
    longitude: Math.min(Math.max(view.longitude - x * view.degrees, -180), 180),
    latitude: Math.min(Math.max(view.latitude + y * view.degrees * shrink(view.latitude), -85), 85),
  }
}

function placeAt(view: View, { width, height }: Size, x: number, y: number): Point {
  return {
    longitude: Math.min(Math.max(view.longitude + (x - width / 2) * view.degrees, -180), 180),
    latitude: Math.min(Math.max(view.latitude - (y - height / 2) * view.degrees * shrink(view.latitude), -90), 90),
  }
}

function pixelOf(view: View, { width, height }: Size, { longitude, latitude }: Point): { x: number; y: number } {
  return {
    x: width / 2 + (longitude - view.longitude) / view.degrees,
    y: height / 2 - (latitude - view.latitude) / view.degrees / shrink(view.latitude),
  }
}

function shownBox(view: View, size: Size): Box {
  const northWest = placeAt(view, size, 0, 0)
  const southEast = placeAt(view, size, size.width, size.height)
  return clamped({
    minLng: northWest.longitude,
    minLat: southEast.latitude,
    maxLng: southEast.longitude,
    maxLat: northWest.latitude,
  })
}

interface Group {
  key: string
  x: number
  y: number
  ids: number[]
}

/** Points that would cover each other, drawn as one. */
function groupsOf(points: readonly MapPoint[], view: View, size: Size): Group[] {
  const groups = new Map<string, Group>()
  for (const point of points) {
    const { x, y } = pixelOf(view, size, point)
    if (x < 0 || y < 0 || x > size.width || y > size.height) continue
    const key = `${Math.floor(x / cell)},${Math.floor(y / cell)}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { key, x, y, ids: [point.id] })
    else group.ids.push(point.id)
  }
  return [...groups.values()]
}

interface DrawingProps {
  view: View
  size: Size
  points: readonly MapPoint[]
  onSelect: MapProps['onSelect']
}

function Drawing({ view, size, points, onSelect }: DrawingProps) {
  const box = shownBox(view, size)
  const { longitudes, latitudes } = graticuleOf(box)
  const { width, height } = size
  return (
    <>
      {longitudes.map((longitude) => {
        const { x } = pixelOf(view, size, { longitude, latitude: view.latitude })
        return (
          <g key={longitude}>
            <line x1={x} x2={x} y1={0} y2={height} />
            <text x={x + 3} y={height - 5}>
              {longitudeName(longitude)}
            </text>
          </g>
        )
      })}
      {latitudes.map((latitude) => {
        const { y } = pixelOf(view, size, { longitude: view.longitude, latitude })
        return (
          <g key={latitude}>
            <line x1={0} x2={width} y1={y} y2={y} />
            <text x={4} y={y - 3}>
              {latitudeName(latitude)}
            </text>
          </g>
        )
      })}
      {groupsOf(points, view, size).map(({ key, x, y, ids }) => (
        <Mark key={key} x={x} y={y} ids={ids} onSelect={onSelect} />
      ))}
    </>
  )
}

function Mark({ x, y, ids, onSelect }: Omit<Group, 'key'> & Pick<MapProps, 'onSelect'>) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the same sites stand in the table, which is for the keyboard
    <g className="map-point" transform={`translate(${x} ${y})`} onClick={() => onSelect?.(ids)}>
      <circle r={ids.length === 1 ? 7 : 14} />
      {ids.length > 1 && <text>{ids.length}</text>}
    </g>
  )
}

interface Gestures {
  move: (x: number, y: number) => void
  zoom: (factor: number) => void
  click: (x: number, y: number) => void
}

/** Dragging moves, the wheel zooms, and what was no dragging is a click. */
function useGestures(svg: { current: SVGSVGElement | null }, gestures: Gestures): void {
  const latest = useRef(gestures)
  useEffect(() => {
    latest.current = gestures
  })
  useEffect(() => {
    const element = svg.current
    if (element === null) return
    const ending = new AbortController()
    const { signal } = ending
    let way = 0
    const drag = (event: PointerEvent) => {
      if (event.buttons === 0) return
      way += Math.abs(event.movementX) + Math.abs(event.movementY)
      if (way > 4) latest.current.move(event.movementX, event.movementY)
    }
    const turn = (event: WheelEvent) => {
      event.preventDefault()
      latest.current.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2)
    }
    const click = (event: MouseEvent) => {
      if (way > 4) {
        event.stopPropagation()
        return
      }
      const { left, top } = element.getBoundingClientRect()
      latest.current.click(event.clientX - left, event.clientY - top)
    }
    element.addEventListener('pointerdown', () => (way = 0), { signal })
    element.addEventListener('pointermove', drag, { signal })
    element.addEventListener('wheel', turn, { signal, passive: false })
    element.addEventListener('click', click, { signal })
    return () => ending.abort()
  }, [svg])
}

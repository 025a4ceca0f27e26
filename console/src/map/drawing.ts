import type { GeoJSONSource, Map as LibraryMap, MapMouseEvent, StyleSpecification } from 'maplibre-gl'
import type { Box } from '../../../src/values.ts'
import type { MapProps } from './contract.ts'
import type { MapPoint } from './point.ts'
import { clamped, graticuleOf, latitudeName, longitudeName } from './view.ts'

/** Where points that lie together are no longer drawn apart; from here on, one chooses from a list. */
const farthestZoom = 17

const colours = {
  light: { ground: '#eef2f2', line: '#d3dcdc', point: '#0b6e6e', edge: '#ffffff' },
  dark: { ground: '#131919', line: '#2b3535', point: '#4fc4bc', edge: '#0f1313' },
}

type Features = Exclude<Parameters<GeoJSONSource['setData']>[0], string>
type Line = [number, number][]

const nothing: Features = { type: 'FeatureCollection', features: [] }

export function featuresOf(points: readonly MapPoint[]): Features {
  return {
    type: 'FeatureCollection',
    features: points.map(({ id, longitude, latitude }) => ({
      type: 'Feature',
      properties: { id },
      geometry: { type: 'Point', coordinates: [longitude, latitude] },
    })),
  }
}

/** Everything that is drawn. Without text: letters would have to be fetched from somewhere. */
export function styleOf(tileUrl: string | null, isDark: boolean): StyleSpecification {
  const { ground, line, point, edge } = isDark ? colours.dark : colours.light
  const tiles: StyleSpecification['layers'] = tileUrl === null ? [] : [{ id: 'tiles', type: 'raster', source: 'tiles' }]
  const rim = { 'circle-stroke-width': 2, 'circle-stroke-color': edge }
  return {
    version: 8,
    sources: {
      ...(tileUrl === null ? {} : { tiles: { type: 'raster', tiles: [tileUrl], tileSize: 256, maxzoom: 19 } }),
      graticule: { type: 'geojson', data: nothing },
      points: { type: 'geojson', data: nothing, cluster: true, clusterRadius: 40, clusterMaxZoom: farthestZoom },
    },
    layers: [
      { id: 'ground', type: 'background', paint: { 'background-color': ground } },
      ...tiles,
      {
        id: 'graticule',
        type: 'line',
        source: 'graticule',
        paint: { 'line-color': line, 'line-width': 1, 'line-opacity': tileUrl === null ? 1 : 0.4 },
      },
      {
        id: 'clusters',
        type: 'circle',
        source: 'points',
        filter: ['has', 'point_count'],
        paint: {
          ...rim,
          'circle-color': point,
          'circle-radius': ['step', ['get', 'point_count'], 14, 10, 17, 100, 21],
        },
      },
      {
        id: 'points',
        type: 'circle',
        source: 'points',
        filter: ['!', ['has', 'point_count']],
        paint: { ...rim, 'circle-color': point, 'circle-radius': 7 },
      },
    ],
  }
}

/** The part of the globe that a map shows. */
export function shownBox(map: LibraryMap): Box {
  const bounds = map.getBounds()
  return clamped({
    minLng: bounds.getWest(),
    minLat: bounds.getSouth(),
    maxLng: bounds.getEast(),
    maxLat: bounds.getNorth(),
  })
}

/** Draws the lines of the part that is shown, and writes their degrees at its edges, unless a base map tells more. */
export function drawGraticule(map: LibraryMap, labels: HTMLElement, hasBase: boolean): void {
  const box = shownBox(map)
  const { longitudes, latitudes } = graticuleOf(box)
  const lines: Line[] = [
    ...longitudes.map(
      (longitude): Line => [
        [longitude, box.minLat],
        [longitude, box.maxLat],
      ],
    ),
    ...latitudes.map(
      (latitude): Line => [
        [box.minLng, latitude],
        [box.maxLng, latitude],
      ],
    ),
  ]
  map
    .getSource<GeoJSONSource>('graticule')
    ?.setData({ type: 'Feature', properties: {}, geometry: { type: 'MultiLineString', coordinates: lines } })
  if (hasBase) return
  const middle = map.getCenter()
  labels.replaceChildren(
    ...longitudes.map((longitude) => {
      const { x } = map.project([longitude, middle.lat])
      return label(longitudeName(longitude), { left: `${x + 3}px`, bottom: '2px' })
    }),
    ...latitudes.map((latitude) => {
      const { y } = map.project([middle.lng, latitude])
      return label(latitudeName(latitude), { left: '4px', top: `${y + 1}px` })
    }),
  )
}

function label(text: string, place: Partial<CSSStyleDeclaration>): HTMLElement {
  const element = document.createElement('span')
  element.textContent = text
  Object.assign(element.style, place)
  return element
}

/** Writes onto each cluster how many points it stands for. */
export function drawCounts(map: LibraryMap, counts: HTMLElement): void {
  if (!map.isSourceLoaded('points')) return
  const clusters = new Map(
    map.queryRenderedFeatures({ layers: ['clusters'] }).map((feature) => [feature.properties.cluster_id, feature]),
  )
  const elements = [...clusters.values()].flatMap(({ geometry, properties }) => {
    if (geometry.type !== 'Point') return []
    const { x, y } = map.project(geometry.coordinates as [number, number])
    return [label(String(properties.point_count_abbreviated), { left: `${x}px`, top: `${y}px` })]
  })
  counts.replaceChildren(...elements)
}

/** What a click means: a place where one is being picked, else the points under it, or a closer look at a cluster. */
export async function answerClick(
  map: LibraryMap,
  { point, lngLat }: MapMouseEvent,
  { onPick, onSelect }: Pick<MapProps, 'onPick' | 'onSelect'>,
): Promise<void> {
  if (onPick !== undefined) {
    const { lng, lat } = lngLat.wrap()
    onPick({ longitude: lng, latitude: lat })
    return
  }
  const around: [[number, number], [number, number]] = [
    [point.x - 4, point.y - 4],
    [point.x + 4, point.y + 4],
  ]
  const found = map.queryRenderedFeatures(around, { layers: ['clusters', 'points'] })
  const cluster = found.find(({ properties }) => properties.cluster === true)
  if (cluster === undefined) {
    onSelect?.([...new Set(found.map(({ properties }) => Number(properties.id)))])
    return
  }
  const source = map.getSource<GeoJSONSource>('points')
  const id = Number(cluster.properties.cluster_id)
  const zoom = (await source?.getClusterExpansionZoom(id)) ?? farthestZoom
  if (zoom <= farthestZoom) {
    map.easeTo({ center: lngLat, zoom })
    return
  }
  const leaves = (await source?.getClusterLeaves(id, 100, 0)) ?? []
  onSelect?.(leaves.map(({ properties }) => Number(properties?.id)))
}

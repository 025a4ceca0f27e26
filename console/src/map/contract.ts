import type { Box } from '../../../src/vocabulary/coordinates.ts'
import type { MapPoint, Point } from './point.ts'

/** The props of a map. */
export interface MapProps {
  /** A description of the map for screen readers. */
  label: string
  points: readonly MapPoint[]
  /** The ids of the points that are marked. */
  chosen?: readonly number[]
  /** A point of another kind, drawn apart from the others as a ring. */
  ring?: Point | undefined
  /** The part to show instead of all points. */
  area?: Box | undefined
  /** Called with the visible part whenever it changes. */
  onArea?: ((box: Box) => void) | undefined
  /** Called with the points that were clicked. */
  onSelect?: ((ids: number[]) => void) | undefined
  /** Called with the place that was clicked. */
  onPick?: ((point: Point) => void) | undefined
}

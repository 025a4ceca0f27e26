import type { Box } from '../../../src/vocabulary/values.ts'
import type { MapPoint, Point } from './point.ts'

/** What a map takes. */
export interface MapProps {
  /** What the map shows, in words. */
  label: string
  points: readonly MapPoint[]
  /** The part to show instead of all points. */
  area?: Box | undefined
  /** Told the part that is shown, whenever it changes. */
  onArea?: ((box: Box) => void) | undefined
  /** Told the points that were clicked. */
  onSelect?: ((ids: number[]) => void) | undefined
  /** Told the place that was clicked. */
  onPick?: ((point: Point) => void) | undefined
}

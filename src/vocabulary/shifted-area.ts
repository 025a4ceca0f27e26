import type { Box } from './coordinates.ts'

// Where GCJ-02 and BD-09 shift coordinates: in the mainland, Hong Kong and Macao; elsewhere, maps in these systems show
// WGS 84. The boxes are no borders: they separate places with roads on both sides. Towns close to a border count as
// inside.

const box = (minLng: number, minLat: number, maxLng: number, maxLat: number): Box => ({
  minLng,
  minLat,
  maxLng,
  maxLat,
})

const inside = [
  box(79.4, 42.8, 96.4, 49.3),
  box(109.6, 39.3, 135.1, 53.7),
  box(73.4, 29.5, 124.2, 42.9),
  box(80.9, 26.7, 97.1, 29.6),
  box(97, 20.4, 124.4, 29.6),
  box(107.9, 17.8, 111.8, 20.5),
  // The islands of Sansha.
  box(110.8, 15.4, 113.2, 17.4),
]

const outside = [
  // Kazakhstan and Kyrgyzstan.
  ...[box(79, 43, 80.25, 50), box(79, 45.4, 82.2, 50), box(82, 47.3, 85.4, 50), box(72, 40.6, 76, 43)],
  box(76, 42, 80, 43),
  // Tajikistan, Pakistan and India.
  ...[box(72, 37, 74.4, 39), box(72, 29, 77.8, 35.4), box(77.8, 29, 78.7, 32.5), box(78.7, 29, 81, 30.2)],
  // Nepal, Sikkim and Bhutan.
  ...[box(80, 26, 85.1, 28.25), box(85.1, 26, 88.1, 27.85), box(88.1, 26, 88.75, 27.9), box(89.1, 26, 91.6, 27.9)],
  // Myanmar, Laos and Vietnam.
  ...[box(97, 20, 97.5, 28), box(97.5, 25.6, 98.3, 28), box(97.5, 20, 98.6, 23.8), box(98.6, 20, 99.1, 23.2)],
  ...[box(99.1, 20, 100, 21.9), box(100, 20, 101.1, 21.4), box(101.1, 20, 101.87, 21.1)],
  ...[box(101.87, 20, 106.66, 22.28), box(106.6, 20, 107.3, 21.93), box(107.3, 20, 107.9, 21.5)],
  ...[box(104.85, 22, 105.5, 22.95), box(105.5, 22, 106.3, 22.8)],
  // Taiwan, and the islands of Japan beside it.
  ...[box(119.92, 21.7, 122.5, 25.4), box(122.5, 23, 124.4, 25)],
  // Korea.
  ...[box(124.9, 39, 126.4, 40.75), box(124.5, 39, 126.4, 39.9), box(126.4, 39, 128.3, 41.3), box(128.3, 39, 131, 42)],
  // Russia.
  ...[box(131.3, 42.5, 137, 44.9), box(131, 48.6, 133.8, 54), box(128.6, 49.6, 137, 54), box(127.5, 50.262, 137, 54)],
  box(109, 50.4, 119, 54),
  // Mongolia.
  ...[box(109, 45.4, 115.4, 50.5), box(109, 43.5, 111.2, 50.5), box(88.6, 48.3, 91.2, 50), box(91.2, 45.3, 96.5, 50)],
]

export function isShifted(longitude: number, latitude: number): boolean {
  const isIn = ({ minLng, minLat, maxLng, maxLat }: Box) =>
    longitude >= minLng && longitude <= maxLng && latitude >= minLat && latitude <= maxLat
  return inside.some(isIn) && !outside.some(isIn)
}

import { randomBytes } from 'node:crypto'

/**
 * The order of the serials that a load creates: `counted` serials are consecutive, like those of one box of devices,
 * and are neighbours in the index; `scattered` ones are spread over the whole index.
 */
export const serialOrders = ['counted', 'scattered'] as const
export type SerialOrder = (typeof serialOrders)[number]

/** It is as long as every serial of a load, and no serial contains it. */
export const serialPlaceholder = `SN-${'@'.repeat(18)}`

/** Keeps the serials of one run of a load apart from all others'. */
export function newRunMark(): string {
  return randomBytes(4).toString('hex')
}

/** Makes the serials that create.lua makes, for loads that need no HTTP. */
export function serialSource(order: SerialOrder): () => string {
  const mark = `00${newRunMark()}`
  const hex = (value: number) => value.toString(16).padStart(8, '0')
  let count = 0
  let state = Number.parseInt(mark, 16)
  return () => {
    if (order === 'counted') return `SN-${mark}${hex(++count)}`
    state = (state * 1_103_525 + 12_345) % 2 ** 32
    return `SN-${hex(state)}${mark}`
  }
}

import { expect, test } from 'bun:test'
import type { StateReport } from '#sdk/api'
import { type DemoState, nextReport, numbersFrom } from './demo-fleet.ts'

const devices = 2_000

/** The share of the devices that the reports leave faulty, after each round, and that are offline. */
function rounds(count: number, seed: number) {
  const random = numbersFrom(seed)
  const states = new Map<number, DemoState>()
  // Merges reports as the service does: a member that a report leaves out keeps its value.
  const shown = new Map<number, Partial<StateReport>>()
  return Array.from({ length: count }, () => {
    for (let device = 0; device < devices; device++) {
      const { report, state } = nextReport(`SN${device}`, states.get(device), random)
      states.set(device, state)
      shown.set(device, { ...shown.get(device), ...report })
    }
    const all = [...shown.values()]
    // A device has a remark exactly while it has a fault.
    expect(all.filter(({ status, statusRemark }) => (statusRemark === null) !== (status === 1))).toEqual([])
    const share = (is: (device: (typeof all)[number]) => boolean) => all.filter(is).length / devices
    return { faulty: share(({ status }) => status === 2), offline: share(({ onlineStatus }) => onlineStatus === 2) }
  })
}

test('a day of the demonstration has as many faults at its end as at its beginning, and a few at any time', () => {
  for (const seed of [1, 2]) {
    // A round of reports of 5,000 devices takes 67 s, so this is some five hours.
    const day = rounds(270, seed)
    for (const { faulty, offline } of day) {
      expect(faulty).toBeGreaterThan(0.005)
      expect(faulty).toBeLessThan(0.04)
      expect(offline).toBeGreaterThan(0.01)
      expect(offline).toBeLessThan(0.06)
    }
    const mean = (of: typeof day) => of.reduce((sum, { faulty }) => sum + faulty, 0) / of.length
    expect(Math.abs(mean(day.slice(-50)) - mean(day.slice(0, 50)))).toBeLessThan(0.006)
  }
})

test('every fault is mended within a few reports, and what an earlier run has left is said anew', () => {
  const random = numbersFrom(7)
  for (let device = 0; device < 500; device++) {
    let { report, state } = nextReport('SN', { isFaulty: true, isOnline: true }, random)
    let reports = 1
    for (; state.isFaulty; reports++) ({ report, state } = nextReport('SN', state, random))
    expect(reports).toBeLessThan(60)
    expect(report).toMatchObject({ status: 1, statusRemark: null })
  }
  const first = nextReport('SN', undefined, () => 0.9)
  expect(first.report).toMatchObject({ status: 1, statusRemark: null, onlineStatus: 1, runStatus: 0 })
})

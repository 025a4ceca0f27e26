import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type SerialOrder, serialOrders } from './serials.ts'

export interface Options {
  /** Rounds: every figure is measured once a round, and the median is reported. */
  rounds: number
  /** How long each measurement lasts. */
  seconds: number
  connections: number
  serials: SerialOrder
  /** For run.ts and pages.ts: another checkout, ready to run, to measure at the same time as this one. */
  against: string | undefined
  /** For pages.ts and backup.ts: the number of devices that exist already. */
  devices: number
  /** For pages.ts and backup.ts: how many of them the largest application has, a tenth by default. */
  largest: number
  /** For history.ts: the numbers of events that exist already, one after another. */
  events: number[]
  /** For history.ts: how PostgreSQL compresses whole pages in its log of changes (wal_compression). */
  compression: string
  /** The arguments that are not options. */
  others: string[]
}

/** Reads the command line. A wrong option ends the program with one sentence. */
export function readOptions(): Options {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      connections: { type: 'string', default: '256' },
      serials: { type: 'string', default: 'scattered' },
      against: { type: 'string' },
      devices: { type: 'string', default: '5000000' },
      largest: { type: 'string' },
      events: { type: 'string', default: '600000,10000000,50000000' },
      compression: { type: 'string', default: 'pglz' },
    },
  })
  const serials = serialOrders.find((order) => order === values.serials)
  if (serials === undefined) throw new Error(`--serials must be one of ${serialOrders.join(', ')}.`)
  const devices = positive('devices', values.devices)
  return {
    rounds: positive('rounds', values.rounds ?? (values.quick ? '1' : '3')),
    seconds: positive('seconds', values.seconds ?? (values.quick ? '3' : '8')),
    connections: positive('connections', values.connections),
    serials,
    against: values.against === undefined ? undefined : resolve(values.against),
    devices,
    largest: values.largest === undefined ? Math.floor(devices / 10) : positive('largest', values.largest),
    events: values.events.split(',').map((events) => positive('events', events)),
    compression: values.compression,
    others: positionals,
  }
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value > 0) return value
  throw new Error(`--${name} must be a whole number above 0, but it is "${text}".`)
}

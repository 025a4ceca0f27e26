import type { Model } from './checker.ts'

/** One of the two sites that each application has for a serial number: `app/0` or `app/1`. */
type SiteName = string

/** A request about a serial number, its placement, or one of its sites. */
export interface DeviceRequest {
  action: 'create' | 'unbind' | 'transfer' | 'detail' | 'place' | 'remove' | 'where' | 'deleteSite'
  /** The application that asks, or that receives the transfer. Undefined for an operator. */
  app: string | undefined
  /** Of a create: a text that only this create sends. */
  tag?: string
  site?: SiteName
  lane?: number
  key?: string
}

export interface DeviceAnswer {
  code: number
  /** The record's owner and its tag. */
  app?: string | undefined
  tag?: string | undefined
  /** Where the device stands or stood. */
  site?: SiteName
  lane?: number
  isReplayed?: boolean
}

interface Device {
  held?: { app: string; tag: string; stands?: { site: SiteName; lane: number } }
  /** The sites that were deleted. */
  gone: readonly SiteName[]
}

function respond(device: Device, request: DeviceRequest): [DeviceAnswer, Device] {
  const { action, app, tag, site = '', lane = 0 } = request
  const { held, gone } = device
  const unchanged = (answer: DeviceAnswer): [DeviceAnswer, Device] => [answer, device]
  const isOwn = held !== undefined && held.app === app
  const record = held && { code: 0, app: held.app, tag: held.tag }
  switch (action) {
    case 'create': {
      if (held !== undefined) return unchanged({ code: isOwn ? 20017 : 20013 })
      const made = { app: String(app), tag: String(tag) }
      return [
        { code: 0, ...made },
        { held: made, gone },
      ]
    }
    case 'unbind':
      return isOwn ? [record as DeviceAnswer, { gone }] : unchanged({ code: 20002 })
    case 'transfer': {
      if (held === undefined || isOwn) return unchanged({ code: isOwn ? 20017 : 20002 })
      const moved = { app: String(app), tag: held.tag }
      return [
        { code: 0, ...moved },
        { held: moved, gone },
      ]
    }
    case 'detail':
      return unchanged(record !== undefined && (app ?? record.app) === record.app ? record : { code: 20002 })
    case 'place': {
      if (!isOwn) return unchanged({ code: 20002 })
      if (gone.includes(site)) return unchanged({ code: 30002 })
      const answer = { code: 0, app, site, lane }
      if (held.stands?.site === site && held.stands.lane === lane) return unchanged(answer)
      return [answer, { held: { ...held, stands: { site, lane } }, gone }]
    }
    case 'remove':
    case 'where': {
      if (!isOwn) return unchanged({ code: 20002 })
      if (held.stands === undefined) return unchanged({ code: 20030 })
      const answer = { code: 0, app, ...held.stands }
      return action === 'where' ? unchanged(answer) : [answer, { held: { app: held.app, tag: held.tag }, gone }]
    }
    case 'deleteSite': {
      if (gone.includes(site)) return unchanged({ code: 30002 })
      const left = held?.stands?.site === site ? { app: held.app, tag: held.tag } : held
      return [
        { code: 0, app },
        { ...(left && { held: left }), gone: [...gone, site].sort() },
      ]
    }
  }
}

/** A serial number: who holds it, and at which of its sites it stands. */
export const devices: Model<Device, DeviceRequest, DeviceAnswer> = {
  untouched: { gone: [] },
  respond,
  reads: ['detail', 'where'],
  tagged: ['create'],
}

import { createDevice, getDevice } from '../../src/devices/contract.ts'
import { transferDevice, unbindDevice } from '../../src/devices/ownership/contract.ts'
import { getPlacement, removePlacement, savePlacement } from '../../src/devices/placement/contract.ts'
import { deleteSite } from '../../src/sites/contract.ts'
import { deviceBody, newSerial } from '../kit/records.ts'
import type { DeviceAnswer, DeviceRequest } from './devices.ts'
import type { Subject } from './recorder.ts'

const operations = {
  create: createDevice,
  unbind: unbindDevice,
  transfer: transferDevice,
  detail: getDevice,
  place: savePlacement,
  remove: removePlacement,
  where: getPlacement,
  deleteSite,
}
/** The actions, by the share of requests up to which each is chosen; the last five are about placements. */
const shares = [
  ...([
    [0.25, 'detail'],
    [0.5, 'create'],
    [0.62, 'unbind'],
    [0.74, 'transfer'],
  ] as const),
  ...([
    [0.84, 'where'],
    [0.94, 'place'],
    [0.985, 'remove'],
    [1, 'deleteSite'],
  ] as const),
] as const
const shareOfOwnership = 0.74
const withAKey = ['create', 'unbind', 'transfer', 'remove', 'deleteSite']

export interface OwnerOfSites {
  appId: string
  token: string
  /** Each serial number gets two of them; without any left, nothing is placed. */
  sites: number[]
}

/** Serial numbers that some applications create, unbind, transfer and place, and read. */
export function serialsOf(apps: OwnerOfSites[], operatorKey: string): Subject<DeviceRequest, DeviceAnswer> {
  /** By serial number and name of a site: the site's id. */
  const sites = new Map<string, Map<string, number>>()
  const nameOf = new Map<number, string>()
  const namesOf = (serial: string) => [...(sites.get(serial)?.keys() ?? [])]
  return {
    begin() {
      const serial = newSerial()
      const own = apps.flatMap(({ appId, sites }) => sites.splice(0, 2).map((id, n) => [`${appId}/${n}`, id] as const))
      sites.set(serial, new Map(own))
      for (const [name, id] of own) nameOf.set(id, name)
      return serial
    },
    compose(random, serial, count) {
      const anyOf = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item
      const share = random() * (namesOf(serial).length > 0 ? 1 : shareOfOwnership)
      const [, action] = shares.find(([upTo]) => share < upTo) ?? shares[0]
      const app = anyOf(apps).appId
      const site = anyOf(namesOf(serial).filter((name) => name.startsWith(app)))
      return {
        action,
        app: action === 'detail' && random() < 0.5 ? undefined : app,
        ...(action === 'create' && { tag: `t${count}` }),
        ...((action === 'place' || action === 'deleteSite') && { site }),
        ...(action === 'place' && { lane: 1 + Math.floor(random() * 4) }),
        ...(withAKey.includes(action) && random() < 0.7 && { key: `k${count}` }),
      }
    },
    wire(deviceNo, { action, app, tag, site, lane }) {
      const isOperators = action === 'transfer' || app === undefined
      const token = isOperators ? operatorKey : (apps.find(({ appId }) => appId === app)?.token ?? '')
      const siteId = sites.get(deviceNo)?.get(site ?? '')
      const inputs: Partial<Record<DeviceRequest['action'], () => object>> = {
        create: () => deviceBody(String(app), { deviceNo, tag }),
        transfer: () => ({ deviceNo, targetAppId: app, reason: 'race' }),
        place: () => ({ deviceNo, siteId, laneType: lane }),
        deleteSite: () => ({ id: siteId }),
      }
      const input = inputs[action]?.() ?? { deviceNo }
      return { operation: operations[action], input, token }
    },
    shown({ action }, { appId: app, tag, siteId, laneType: lane }) {
      if (action === 'deleteSite') return { app }
      return siteId === undefined ? { app, tag } : { app, site: nameOf.get(siteId) ?? '', lane }
    },
  }
}

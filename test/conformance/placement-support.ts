import type { CallOptions } from '../kit/client.ts'
import type { TestApplication } from '../kit/records.ts'
import { client, expectSuccess, newDevice, succeed } from './support.ts'

/** Places a device in an entrance unless `members` say otherwise. */
export const place = (as: CallOptions, deviceNo: string, siteId: number, members: object = {}) =>
  client.call('savePlacement', { deviceNo, siteId, laneType: 1, ...members }, as)

/** Creates a device that is placed at a site. */
export async function newPlaced(app: TestApplication, siteId: number, members: Record<string, unknown> = {}) {
  const deviceNo = await newDevice(app, members)
  expectSuccess(await place(app, deviceNo, siteId))
  return deviceNo
}

export const remove = (as: CallOptions, deviceNo: string, members: object = {}) =>
  client.call('removePlacement', { deviceNo, ...members }, as)

export const detail = (as: CallOptions, deviceNo: string) => client.call('getPlacement', { deviceNo }, as)

export const page = (as: CallOptions, filter: object = {}) => succeed('pagePlacements', filter, as)

export const history = async (as: CallOptions, filter: object) =>
  (await succeed('pagePlacementHistory', filter, as)).list

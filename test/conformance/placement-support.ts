import type { TestApplication } from '../kit/records.ts'
import { client, createDeviceOf, expectSuccess, saveSiteOf } from './support.ts'

export async function newDevice(app: TestApplication, members: Record<string, unknown> = {}): Promise<string> {
  return expectSuccess(await createDeviceOf(app, members)).deviceNo
}

export async function newSite(app: TestApplication, members: Record<string, unknown> = {}): Promise<number> {
  return expectSuccess(await saveSiteOf(app, members)).id
}

/** Places a device in an entrance unless `members` say otherwise. */
export function place(
  { token }: Pick<TestApplication, 'token'>,
  deviceNo: string,
  siteId: number,
  members: Record<string, unknown> = {},
  headers: Record<string, string> = {},
) {
  return client.call('savePlacement', { deviceNo, siteId, laneType: 1, ...members }, { token, headers })
}

/** Creates a device that is placed at a site. */
export async function newPlaced(app: TestApplication, siteId: number, members: Record<string, unknown> = {}) {
  const deviceNo = await newDevice(app, members)
  expectSuccess(await place(app, deviceNo, siteId))
  return deviceNo
}

export function remove({ token }: TestApplication, deviceNo: string, members: Record<string, unknown> = {}) {
  return client.call('removePlacement', { deviceNo, ...members }, { token })
}

export function detail({ token }: TestApplication, deviceNo: string) {
  return client.call('getPlacement', { deviceNo }, { token })
}

export async function page({ token }: TestApplication, filter: Record<string, unknown> = {}) {
  return expectSuccess(await client.call('pagePlacements', filter, { token }))
}

export async function history({ token }: TestApplication, filter: Record<string, unknown>) {
  return expectSuccess(await client.call('pagePlacementHistory', filter, { token })).list
}

/** The events about a device, oldest first. */
export async function events({ token }: TestApplication, deviceNo: string) {
  return expectSuccess(await client.call('pageEvents', { deviceNo, pageSize: '100' }, { token })).list
}

export const typesOf = (list: readonly { type: string }[]) => list.map(({ type }) => type)

export async function deviceRecord({ token }: TestApplication, deviceNo: string) {
  return expectSuccess(await client.call('getDevice', { deviceNo }, { token }))
}

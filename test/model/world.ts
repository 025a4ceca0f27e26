import { expect } from 'bun:test'
import type fc from 'fast-check'
import type { DeviceRecord } from '../../src/devices/contract.ts'
import type { EventType } from '../../src/vocabulary/event-types.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import type { Client } from '../kit/client.ts'
import { contractOf, type OperationId } from '../kit/contracts.ts'
import { newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { type Moment, settled } from './answers.ts'

/** The state that the service must have, in the simplest form. */
export interface World {
  apps: ModelApplication[]
  serials: string[]
  /** The current binding of each serial number. */
  devices: Map<string, ModelDevice>
  /** The earlier bindings, oldest first. */
  bindings: PastBinding[]
  /** Sites and billing rules, oldest first. */
  records: ModelRecord[]
  /** Creates that were sent with a key, so that they can be sent again. */
  attempts: Attempt[]
  /** The number of groups of events so far. */
  groups: number
}

export interface ModelApplication extends TestApplication {
  name: string
  isOnline: boolean
  createdAt: Moment
  events: ModelEvent[]
  /** The first responses, by operation and key. */
  kept: Map<string, Kept>
  tags: ModelTag[]
}

/** An entity tag that the service returned, and the version of the record that it belongs to. */
interface ModelTag {
  subject: string
  /** The members that an update can change, as text. */
  content: string
  /** When the record was created, or the device bound. */
  since: Moment
  etag: string
}

interface Kept {
  body: string
  record: Shown
}

/** A record at one moment; members that only the service can know are taken from its response. */
export type Shown = (told: unknown) => unknown

export interface ModelEvent {
  /** The id, once the service has shown it. */
  id: number | undefined
  type: EventType
  at: Moment
  actor: string
  /** The record that the event is about, as the feed's filters name it. */
  subject: string
  /** Events of one group can be in any order. */
  group: number | undefined
  data: Shown
}

export interface DeviceState {
  status: number
  onlineStatus: number
  runStatus: number
  statusRemark: string | null
  version: string | null
  batteryStatus: number | null
  batteryEnergy: string | null
}

export interface DeviceMembers {
  deviceName: string
  tag: string | null
  provinceCode: string
  cityCode: string
  districtCode: string
  detailAddress: string | null
  coordinates: string
}

export interface ModelDevice {
  app: ModelApplication
  deviceNo: string
  members: DeviceMembers
  state: DeviceState
  /** The time of the device's newest report. */
  reportedAt?: Moment
  boundAt: Moment
}

interface PastBinding {
  app: ModelApplication
  deviceNo: string
  boundAt: Moment
  unboundAt: Moment
  unboundBy: string
  reason: string | null
}

/** A site or a billing rule, also after its deletion. */
export interface ModelRecord {
  noun: 'site' | 'billingRule'
  app: ModelApplication
  id: number
  members: Record<string, unknown>
  createdAt: Moment
  isDeleted: boolean
}

interface Attempt {
  send(client: Client): Promise<void>
}

export type Command = fc.AsyncCommand<World, Client>
export type WeightedCommand = fc.WeightedArbitrary<Command>

/** A command that can be run in any state of the world. A failure prints its input. */
export function command<Input>(
  name: string,
  input: Input,
  run: (world: World, client: Client, input: Input) => Promise<void>,
): Command {
  return {
    check: () => true,
    run: (world, client) => run(world, client, input),
    toString: () => `${name}(${JSON.stringify(input)})`,
  }
}

/**
 * Who sends a request: an application with or without its own id, an operator, or an application that names another
 * one.
 */
export interface Asking {
  app: number
  how: 'own' | 'named' | 'operator' | 'stranger'
}

/** Who sends a request about a serial number: mostly its owner, because otherwise few commands would find it. */
export interface AskingOfSerial extends Asking {
  isHolder: boolean
  serial: number
}

export function askedOf(world: World, { app }: Asking): ModelApplication {
  return world.apps[app % world.apps.length] as ModelApplication
}

export function actorOf(world: World, asking: Asking): string {
  return asking.how === 'operator' ? 'operator:operator' : `application:${askedOf(world, asking).appId}`
}

export function serialOf(world: World, serial: number): string {
  return world.serials[serial % world.serials.length] as string
}

/** The serial number, and who sends the request, given the number's current owner. */
export function meant(world: World, { app, how, isHolder, serial }: AskingOfSerial) {
  const deviceNo = serialOf(world, serial)
  const holder = world.devices.get(deviceNo)?.app
  const asking: Asking = { app: isHolder && holder !== undefined ? world.apps.indexOf(holder) : app, how }
  return { asking, deviceNo }
}

/** Calls an operation as this caller. Members of a query are sent as text; undefined ones are left out. */
export function ask<Called extends OperationId | Operation>(
  world: World,
  client: Client,
  asking: Asking,
  called: Called,
  members: Record<string, unknown>,
  headers: Record<string, string> = {},
) {
  const { method } = contractOf(called)
  const { appId, token } = askedOf(world, asking)
  const stranger = askedOf(world, { app: asking.app + 1, how: 'own' })
  const input = asking.how === 'own' ? members : { appId, ...members }
  const tokens = { own: token, named: token, operator: client.operatorKey, stranger: stranger.token }
  const written = Object.fromEntries(
    Object.entries(input)
      .filter(([, value]) => value !== undefined)
      .map(([member, value]) => [member, method === 'GET' ? String(value) : value]),
  )
  return client.call(called, written, { token: tokens[asking.how], headers })
}

/** A world of new applications and serial numbers, which no other test uses. */
export async function newWorld(client: Client, apps: number, serials: number): Promise<World> {
  const made = await Promise.all(
    Array.from({ length: apps }, (_, index) => newModelApplication(client, `model ${index}`)),
  )
  return {
    apps: made,
    serials: Array.from({ length: serials }, () => newSerial()).sort(),
    devices: new Map(),
    bindings: [],
    records: [],
    attempts: [],
    groups: 0,
  }
}

async function newModelApplication(client: Client, name: string): Promise<ModelApplication> {
  const from = Date.now()
  const application = await newApplication(client, { appName: name })
  const createdAt = { from, to: Date.now(), told: undefined }
  // The application's configuration already has an event, which the model takes over as it is.
  const { list } = (await client.call('pageEvents', {}, { token: application.token })).data
  const events = list.map(({ id, time, actor, data, type }) => ({
    id,
    type: type as EventType,
    at: { ...createdAt, told: time },
    actor,
    subject: '',
    group: undefined,
    data: () => data,
  }))
  return { ...application, name, isOnline: true, createdAt, events, kept: new Map(), tags: [] }
}

const divisions: Record<string, string> = {
  360000: '江西省',
  360100: '南昌市',
  360102: '东湖区',
  440000: '广东省',
  440300: '深圳市',
  440304: '福田区',
}

/** A snapshot of the device's record, which can be compared with a response at once or later. */
export function shownDevice({ app, deviceNo, members, state, boundAt }: ModelDevice): Shown {
  const { deviceName, tag, ...place } = members
  const { batteryStatus, batteryEnergy, ...states } = state
  const divisionName = (code: string) => divisions[code] ?? null
  const record = {
    appId: app.appId,
    deviceNo,
    tag,
    deviceName,
    modelName: null,
    productPictureUrl: null,
    deviceType: null,
    deviceTypeName: null,
    ...states,
    deviceNumber: 1,
    deviceBattery: {
      ...place,
      provinceName: divisionName(place.provinceCode),
      cityName: divisionName(place.cityCode),
      districtName: divisionName(place.districtCode),
    },
    DeviceBatteryOutput: { batteryStatus, batteryEnergy },
  }
  return (told) => ({ ...record, createTime: settled(boundAt, (told as DeviceRecord | null)?.createTime) })
}

export function logEvent(app: ModelApplication, event: Omit<ModelEvent, 'id' | 'group'> & { group?: number }): void {
  app.events.push({ group: undefined, ...event, id: undefined })
}

/**
 * Checks and stores an entity tag, and returns it: equal versions of a record must have one tag, different ones
 * different tags.
 */
export function expectTag(app: ModelApplication, tagged: Omit<ModelTag, 'etag'>, told: string | null): string {
  expect(told).toMatch(/^"[^"]+"$/)
  const etag = told as string
  const ofSubject = app.tags.filter(({ subject }) => subject === tagged.subject)
  for (const known of ofSubject) {
    const isLike = known.content === tagged.content
    if (isLike && known.since === tagged.since) expect(etag).toBe(known.etag)
    // Records with the same members from the same millisecond cannot be distinguished.
    else if (!isLike || known.since.to < tagged.since.from) expect(etag).not.toBe(known.etag)
  }
  if (!ofSubject.some((known) => known.etag === etag)) app.tags.push({ ...tagged, etag })
  return etag
}

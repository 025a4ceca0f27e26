import Type, { type Static } from 'typebox'
import { batchOf, outcomesOf } from '../../vocabulary/batches.ts'
import { limits } from '../../vocabulary/limits.ts'
import { operation } from '../../vocabulary/operation.ts'
import { pageOf, pageQuery } from '../../vocabulary/pages.ts'
import {
  described,
  deviceNo,
  deviceNos,
  divisionCode,
  extended,
  freeText,
  integer,
  lengths,
  listOfIds,
  moment,
  named,
  nullable,
  oneOf,
  optional,
  ownAppId,
  reasonKey,
  reasonText,
  shownKey,
} from '../../vocabulary/values.ts'
import { DeviceStatus, OnlineStatus, RunStatus } from '../contract.ts'

const LaneType = named('LaneType', described(oneOf(1, 2, 3, 4), '1 entrance, 2 exit, 3 both, 4 door.'))

const ofSite = integer(1)

/** One row of saveBatch: the body of a save request without `appId`. */
export const PlacementBatchRow = named(
  'PlacementBatchRow',
  Type.Object({
    deviceNo,
    siteId: described(ofSite, 'The id of the site at which the device stands.'),
    laneType: LaneType,
    laneName: optional(freeText(lengths.name)),
  }),
)
export type PlacementBatchRow = Static<typeof PlacementBatchRow>

/** A row of an import that changes placements: the values of members that it leaves out are kept. */
export const PlacementUpsertRow = Type.Object({ ...Type.Partial(PlacementBatchRow).properties, deviceNo })
export type PlacementUpsertRow = Static<typeof PlacementUpsertRow>

/** A device's stay at a site. */
export const PlacementRecord = named(
  'Placement',
  Type.Object({
    deviceNo: Type.String(),
    appId: Type.String(),
    siteId: Type.Integer({ description: 'The id of the site at which the device stands.' }),
    siteName: Type.String({ description: 'The site’s name; after the end, the name at that time.' }),
    laneType: Type.Integer({ [shownKey]: LaneType }),
    laneName: nullable(Type.String()),
    placedTime: moment,
    placedBy: Type.String(),
    removedTime: nullable(moment),
    removedBy: nullable(Type.String()),
    reason: nullable(Type.String({ description: 'Why the placement ended; null if no reason was given.' })),
  }),
)
export type PlacementRecord = Static<typeof PlacementRecord>

/** A current placement, with the members of its device that are shown. */
export const PlacedDeviceRecord = named(
  'PlacedDevice',
  extended(PlacementRecord, {
    deviceName: Type.String(),
    status: Type.Integer({ [shownKey]: DeviceStatus }),
    onlineStatus: Type.Integer({ [shownKey]: OnlineStatus }),
    runStatus: Type.Integer({ [shownKey]: RunStatus }),
    statusRemark: nullable(Type.String()),
    lastReportTime: nullable(moment),
  }),
)
export type PlacedDeviceRecord = Static<typeof PlacedDeviceRecord>

const folder = '/api/device/entrance/placement'
const callers = ['application', 'operator'] as const

export const savePlacement = operation({
  id: 'savePlacement',
  group: 'placements',
  summary:
    'Places a device at a site, in a lane. A device stands at one site at most: placing it at another site moves it there. Repeating a placement changes nothing.',
  method: 'POST',
  path: `${folder}/save`,
  callers,
  body: extended(PlacementBatchRow, { appId: ownAppId }),
  data: PlacementRecord,
  refusals: ['applicationNotFound', 'deviceNotFound', 'siteNotFound'],
  tagged: true,
  conditional: true,
})

export const savePlacements = operation({
  id: 'savePlacements',
  group: 'placements',
  summary:
    'Places up to 1000 devices. Answers one outcome for each row, in order; a refused row does not stop the others.',
  method: 'POST',
  path: `${folder}/saveBatch`,
  callers,
  body: Type.Object({
    appId: ownAppId,
    placements: batchOf(PlacementBatchRow, 'placements, each as `savePlacement` takes it but without `appId`'),
  }),
  data: outcomesOf('deviceNo', PlacementRecord),
  refusals: ['applicationNotFound'],
  idempotent: true,
  maxBodyBytes: limits.batchBytes,
})

export const removePlacement = operation({
  id: 'removePlacement',
  group: 'placements',
  summary: 'Ends the placement of a device, and answers the placement as it ended.',
  method: 'POST',
  path: `${folder}/remove`,
  callers,
  body: Type.Object({ appId: ownAppId, deviceNo, reason: optional(reasonText) }),
  data: PlacementRecord,
  refusals: ['applicationNotFound', 'deviceNotFound', 'placementNotFound'],
  idempotent: true,
})

export const removePlacements = operation({
  id: 'removePlacements',
  group: 'placements',
  summary:
    'Ends the placements of up to 1000 devices. Answers one outcome for each serial number, in order; a refusal does not stop the others.',
  method: 'POST',
  path: `${folder}/removeBatch`,
  callers,
  body: Type.Object({ appId: ownAppId, deviceNos: batchOf(deviceNo), reason: optional(reasonText) }),
  data: outcomesOf('deviceNo', PlacementRecord),
  refusals: ['applicationNotFound'],
  idempotent: true,
  maxBodyBytes: limits.batchBytes,
})

export const getPlacement = operation({
  id: 'getPlacement',
  group: 'placements',
  summary: 'Answers at which site a device stands.',
  method: 'GET',
  path: `${folder}/detail`,
  callers,
  query: Type.Object({ appId: ownAppId, deviceNo }),
  data: PlacementRecord,
  refusals: ['applicationNotFound', 'deviceNotFound', 'placementNotFound'],
  tagged: true,
})

export const pagePlacements = operation({
  id: 'pagePlacements',
  group: 'placements',
  summary: 'Pages through the current placements, newest first, each with the present state of its device.',
  method: 'GET',
  path: `${folder}/page`,
  callers,
  query: Type.Object({
    appId: ownAppId,
    ...pageQuery,
    siteId: optional(ofSite),
    deviceNo: optional({ ...deviceNo, description: 'a part of the serial number, regardless of upper and lower case' }),
    deviceNos: optional(deviceNos),
    laneType: optional(LaneType),
    status: optional(DeviceStatus),
    onlineStatus: optional(OnlineStatus),
    runStatus: optional(RunStatus),
    provinceCode: optional(described(divisionCode, 'The code of the site’s province.')),
    cityCode: optional(described(divisionCode, 'The code of the site’s city.')),
    districtCode: optional(described(divisionCode, 'The code of the site’s district.')),
  }),
  data: pageOf(PlacedDeviceRecord),
  refusals: ['applicationNotFound'],
})

export const pagePlacementHistory = operation({
  id: 'pagePlacementHistory',
  group: 'placements',
  summary: 'Pages through the placements of one device or at one site, ended and current ones, newest first.',
  method: 'GET',
  path: `${folder}/history`,
  callers,
  query: Type.Object({
    appId: ownAppId,
    ...pageQuery,
    deviceNo: optional(described(deviceNo, 'The device; instead of `siteId`.')),
    siteId: optional(described(ofSite, 'The site; instead of `deviceNo`.')),
  }),
  data: pageOf(PlacementRecord),
  refusals: ['applicationNotFound'],
})

const manySites = Type.String({
  ...listOfIds(limits.sitesSummarized),
  description: `The ids of 1 to ${limits.sitesSummarized} sites, with commas between them.`,
  examples: ['1'],
  [reasonKey]: {
    en: `must be the ids of 1 to ${limits.sitesSummarized} sites, with commas between them`,
    zh: `必须是 1 至 ${limits.sitesSummarized} 个站点 id，以逗号分隔`,
  },
})

const SiteSummary = named(
  'PlacementSummary',
  Type.Object({
    siteId: Type.Integer({ description: 'The id of the site.' }),
    devices: Type.Integer({ description: 'How many devices stand at the site.' }),
    online: Type.Integer({ description: 'How many of them are online.' }),
    offline: Type.Integer({ description: 'How many of them are offline.' }),
    fault: Type.Integer({ description: 'How many of them report a fault.' }),
    open: Type.Integer({ description: 'How many of them are open (`runStatus` 1).' }),
    closed: Type.Integer({ description: 'How many of them are closed (`runStatus` 0).' }),
    stopped: Type.Integer({ description: 'How many of them are stopped (`runStatus` 2).' }),
    entrances: Type.Integer({ description: 'How many of them stand in an entrance, or in a lane for both.' }),
    exits: Type.Integer({ description: 'How many of them stand in an exit, or in a lane for both.' }),
    entrancesOnline: Type.Integer({ description: 'How many of the entrances are online.' }),
    exitsOnline: Type.Integer({ description: 'How many of the exits are online.' }),
  }),
)
export type SiteSummary = Static<typeof SiteSummary>

export const summarizePlacements = operation({
  id: 'summarizePlacements',
  group: 'placements',
  summary: 'Counts the devices of up to 100 sites by their state and lane, in the order of the ids.',
  method: 'GET',
  path: `${folder}/summary`,
  callers,
  query: Type.Object({ appId: ownAppId, siteIds: manySites }),
  data: Type.Object({ list: Type.Array(SiteSummary) }),
  refusals: ['applicationNotFound', 'siteNotFound'],
})

const Suggestion = named(
  'PlacementSuggestion',
  Type.Object({
    deviceNo: Type.String(),
    deviceName: Type.String(),
    siteId: Type.Integer({ description: 'The id of the site.' }),
    siteName: Type.String(),
    distanceMeters: nullable(Type.Integer()),
  }),
)
export type Suggestion = Static<typeof Suggestion>

export const suggestPlacements = operation({
  id: 'suggestPlacements',
  group: 'placements',
  summary:
    'Suggests the devices near a site that stand at no site, or the sites near a device; the nearest 100, nearest first. A site without coordinates is suggested by its district. The operation places nothing.',
  method: 'GET',
  path: `${folder}/suggest`,
  callers,
  query: Type.Object({
    appId: ownAppId,
    siteId: optional(described(ofSite, 'The site; instead of `deviceNo`.')),
    deviceNo: optional(described(deviceNo, 'The device; instead of `siteId`.')),
    meters: optional(integer(1, limits.suggestMeters)),
  }),
  data: Type.Object({ list: Type.Array(Suggestion) }),
  refusals: ['applicationNotFound', 'siteNotFound', 'deviceNotFound'],
})

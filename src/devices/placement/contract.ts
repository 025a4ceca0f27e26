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

export const PlacementBatchRow = named(
  'PlacementBatchRow',
  Type.Object({
    deviceNo,
    siteId: described(ofSite, 'The ID of the device’s site.'),
    laneType: LaneType,
    laneName: optional(freeText(lengths.name)),
  }),
)
export type PlacementBatchRow = Static<typeof PlacementBatchRow>

/** An import's row: fields that it leaves out keep their values. */
export const PlacementUpsertRow = Type.Object({ ...Type.Partial(PlacementBatchRow).properties, deviceNo })
export type PlacementUpsertRow = Static<typeof PlacementUpsertRow>

export const PlacementRecord = named(
  'Placement',
  Type.Object({
    deviceNo: Type.String(),
    appId: Type.String(),
    siteId: Type.Integer({ description: 'The ID of the device’s site.' }),
    siteName: Type.String({ description: 'The site’s name; after the end, the name at that time.' }),
    laneType: Type.Integer({ [shownKey]: LaneType }),
    laneName: nullable(Type.String()),
    placedTime: moment,
    placedBy: Type.String(),
    removedTime: nullable(moment),
    removedBy: nullable(Type.String()),
    reason: nullable(Type.String({ description: 'Why the placement ended; null without a reason.' })),
  }),
)
export type PlacementRecord = Static<typeof PlacementRecord>

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
    'Adds a device to a site and sets its lane. A device can be at one site only: if it is at another site, it moves. Repeating the request changes nothing.',
  words: { en: 'Add a device to a site', zh: '安装设备' },
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
    'Adds up to 1000 devices to sites. Returns one result per row, in order. A refused row doesn’t affect the others.',
  words: { en: 'Add devices to sites', zh: '批量安装设备' },
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
  summary: 'Removes a device from its site and returns the ended placement.',
  words: { en: 'Remove a device from its site', zh: '将设备移出站点' },
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
    'Removes up to 1000 devices from their sites. Returns one result per serial number, in order. A refused one doesn’t affect the others.',
  words: { en: 'Remove devices from their sites', zh: '批量将设备移出站点' },
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
  summary: 'Returns the current placement of a device.',
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
  summary: 'Lists current placements, newest first, each with the current state of its device.',
  method: 'GET',
  path: `${folder}/page`,
  callers,
  query: Type.Object({
    appId: ownAppId,
    ...pageQuery,
    siteId: optional(ofSite),
    deviceNo: optional({ ...deviceNo, description: 'part of the serial number, not case-sensitive' }),
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
  summary: 'Lists current and past placements of one device or one site, newest first.',
  method: 'GET',
  path: `${folder}/history`,
  callers,
  query: Type.Object({
    appId: ownAppId,
    ...pageQuery,
    deviceNo: optional(described(deviceNo, 'The device; send either this or `siteId`.')),
    siteId: optional(described(ofSite, 'The site; send either this or `deviceNo`.')),
  }),
  data: pageOf(PlacementRecord),
  refusals: ['applicationNotFound'],
})

const manySites = Type.String({
  ...listOfIds(limits.sitesSummarized),
  description: `1 to ${limits.sitesSummarized} site IDs, separated by commas.`,
  examples: ['1'],
  [reasonKey]: {
    en: `must be 1 to ${limits.sitesSummarized} site IDs, separated by commas`,
    zh: `必须是 1 至 ${limits.sitesSummarized} 个站点 id，以逗号分隔`,
  },
})

const SiteSummary = named(
  'PlacementSummary',
  Type.Object({
    siteId: Type.Integer({ description: 'The id of the site.' }),
    devices: Type.Integer({ description: 'Number of devices at the site.' }),
    online: Type.Integer({ description: 'Number of devices that are online.' }),
    offline: Type.Integer({ description: 'Number of devices that are offline.' }),
    fault: Type.Integer({ description: 'Number of faulty devices.' }),
    open: Type.Integer({ description: 'How many of them are open (`runStatus` 1).' }),
    closed: Type.Integer({ description: 'How many of them are closed (`runStatus` 0).' }),
    stopped: Type.Integer({ description: 'How many of them are stopped (`runStatus` 2).' }),
    entrances: Type.Integer({ description: 'Number of devices in an entrance lane, or a lane for both.' }),
    exits: Type.Integer({ description: 'Number of devices in an exit lane, or a lane for both.' }),
    entrancesOnline: Type.Integer({ description: 'How many of the entrances are online.' }),
    exitsOnline: Type.Integer({ description: 'How many of the exits are online.' }),
  }),
)
export type SiteSummary = Static<typeof SiteSummary>

export const summarizePlacements = operation({
  id: 'summarizePlacements',
  group: 'placements',
  summary: 'Returns device counts of up to 100 sites by state and lane, in the order of the IDs.',
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
    'Suggests up to 100 devices without a site near a site, or sites near a device, nearest first. Sites without coordinates are matched by district. Changes nothing.',
  method: 'GET',
  path: `${folder}/suggest`,
  callers,
  query: Type.Object({
    appId: ownAppId,
    siteId: optional(described(ofSite, 'The site; send either this or `deviceNo`.')),
    deviceNo: optional(described(deviceNo, 'The device; send either this or `siteId`.')),
    meters: optional(integer(1, limits.suggestMeters)),
  }),
  data: Type.Object({ list: Type.Array(Suggestion) }),
  refusals: ['applicationNotFound', 'siteNotFound', 'deviceNotFound'],
})

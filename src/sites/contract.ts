import Type, { type Static } from 'typebox'
import { batchOf, outcomesOf } from '../vocabulary/batches.ts'
import { bbox, coordinates } from '../vocabulary/coordinates.ts'
import { limits } from '../vocabulary/limits.ts'
import { operation } from '../vocabulary/operation.ts'
import { pageOf, pageQuery, sortedBy, timeRange } from '../vocabulary/pages.ts'
import {
  address,
  anyAppId,
  appId,
  closingTime,
  divisionCode,
  extended,
  freeText,
  integer,
  lengths,
  moment,
  name,
  named,
  nullable,
  optional,
  ownAppId,
  phone,
  text,
  textOneOf,
  timeOfDay,
} from '../vocabulary/values.ts'

export const siteLengths = { businessWeekDay: 128, sitePictureUrl: lengths.url, ipcIds: 1024 } as const

export const SiteBatchRow = named(
  'SiteBatchRow',
  Type.Object({
    siteName: name,
    contacts: name,
    contactsPhone: phone,
    customerServicePhone: phone,
    businessWeekDay: text(siteLengths.businessWeekDay),
    businessStartTime: timeOfDay,
    businessClosingTime: closingTime,
    sitePictureUrl: optional(freeText(siteLengths.sitePictureUrl)),
    fastChargeBillRuleId: optional(integer()),
    rushingBillRuleId: optional(integer()),
    placeholderBillRuleId: optional(integer()),
    ipcIds: optional(freeText(siteLengths.ipcIds)),
    provinceCode: divisionCode,
    provinceName: name,
    cityCode: divisionCode,
    cityName: name,
    districtCode: divisionCode,
    districtName: name,
    detailAddress: optional(address),
    coordinates: optional(coordinates),
  }),
)

const id = integer(1)

export const SiteUpdateRow = named('SiteUpdateRow', Type.Object({ id, ...Type.Partial(SiteBatchRow).properties }))
export type SiteUpdate = Static<typeof SiteUpdateRow>

/** The body of a save (document §4.1). `rushing` means slow charging and `placeholder` means occupancy. */
export const SiteRegistration = named('SiteRegistration', extended(SiteBatchRow, { appId }))
export type SiteRegistration = Static<typeof SiteRegistration>

export const SiteRecord = named(
  'Site',
  Type.Object({
    id: Type.Integer(),
    appId: Type.String(),
    siteName: Type.String(),
    contacts: Type.String(),
    contactsPhone: Type.String(),
    customerServicePhone: Type.String(),
    businessWeekDay: Type.String(),
    businessStartTime: Type.String(),
    businessClosingTime: Type.String(),
    sitePictureUrl: nullable(Type.String()),
    fastChargeBillRuleId: nullable(Type.Integer()),
    rushingBillRuleId: nullable(Type.Integer()),
    placeholderBillRuleId: nullable(Type.Integer()),
    ipcIds: nullable(Type.String()),
    createTime: moment,
    provinceCode: Type.String(),
    provinceName: Type.String(),
    cityCode: Type.String(),
    cityName: Type.String(),
    districtCode: Type.String(),
    districtName: Type.String(),
    detailAddress: nullable(Type.String()),
    longitude: nullable(Type.Number()),
    latitude: nullable(Type.Number()),
    coordinates: nullable(Type.String()),
  }),
)
export type SiteRecord = Static<typeof SiteRecord>

const folder = '/api/charging/v1/siteManageThird'

export const saveSite = operation({
  id: 'saveSite',
  group: 'sites',
  summary:
    'Creates a charging site. Each call creates a new site. The application must have a third-party configuration.',
  words: { en: 'Create a site', zh: '新建站点' },
  method: 'POST',
  path: `${folder}/save`,
  callers: ['application', 'operator'],
  body: SiteRegistration,
  data: SiteRecord,
  refusals: ['applicationNotFound', 'thirdPartyConfigMissing', 'billingRuleNotFound', 'billingRuleWrongType'],
  idempotent: true,
  tagged: true,
})

export const saveSites = operation({
  id: 'saveSites',
  group: 'sites',
  summary: 'Creates up to 1000 sites. Returns one result per row, in order. A refused row doesn’t affect the others.',
  words: { en: 'Create sites', zh: '批量新建站点' },
  method: 'POST',
  path: `${folder}/saveBatch`,
  callers: ['application', 'operator'],
  body: Type.Object({
    appId: ownAppId,
    sites: batchOf(SiteBatchRow, 'sites, each as `saveSite` takes it but without `appId`'),
  }),
  data: outcomesOf('siteName', SiteRecord),
  refusals: ['applicationNotFound'],
  idempotent: true,
  maxBodyBytes: limits.batchBytes,
})

const ofOne = { callers: ['application', 'operator'], data: SiteRecord } as const

export const updateSite = operation({
  id: 'updateSite',
  group: 'sites',
  summary: 'Updates the fields that you send of a site; null clears an optional field.',
  words: { en: 'Update a site', zh: '修改站点' },
  method: 'POST',
  path: `${folder}/update`,
  ...ofOne,
  example: { siteName: 'Riverside charging park, north' },
  body: extended(SiteUpdateRow, { appId: ownAppId }),
  refusals: ['applicationNotFound', 'siteNotFound', 'billingRuleNotFound', 'billingRuleWrongType'],
  tagged: true,
  conditional: true,
})

export const updateSites = operation({
  id: 'updateSites',
  group: 'sites',
  summary: 'Updates up to 1000 sites. Returns one result per row, in order. A refused row doesn’t affect the others.',
  words: { en: 'Update sites', zh: '批量修改站点' },
  method: 'POST',
  path: `${folder}/updateBatch`,
  callers: ['application', 'operator'],
  body: Type.Object({
    appId: ownAppId,
    sites: batchOf(SiteUpdateRow, 'sites, each as `updateSite` takes it but without `appId`'),
  }),
  data: outcomesOf('id', SiteRecord, 'SiteUpdate'),
  refusals: ['applicationNotFound'],
  idempotent: true,
  maxBodyBytes: limits.batchBytes,
})

export const deleteSite = operation({
  id: 'deleteSite',
  group: 'sites',
  summary: 'Deletes a site and returns its last state.',
  words: { en: 'Delete a site', zh: '删除站点' },
  method: 'POST',
  path: `${folder}/delete`,
  ...ofOne,
  body: Type.Object({ appId: ownAppId, id }),
  refusals: ['applicationNotFound', 'siteNotFound'],
  idempotent: true,
  conditional: true,
})

export const getSite = operation({
  id: 'getSite',
  group: 'sites',
  summary: 'Returns one site.',
  method: 'GET',
  path: `${folder}/detail`,
  ...ofOne,
  query: Type.Object({ appId: ownAppId, id }),
  refusals: ['applicationNotFound', 'siteNotFound'],
  tagged: true,
})

export const siteSorts = ['createTime', 'id', 'siteName', 'provinceCode', 'cityCode', 'districtCode'] as const

export const pageSites = operation({
  id: 'pageSites',
  group: 'sites',
  summary: 'Lists sites, newest first. Without `sort`, the sites of several applications are grouped by `appId`.',
  method: 'GET',
  path: `${folder}/page`,
  callers: ['application', 'operator'],
  query: Type.Object({
    appId: anyAppId,
    ...pageQuery,
    ...sortedBy(siteSorts),
    siteName: optional(freeText(64, 'part of the name, not case-sensitive')),
    contacts: optional(freeText(64, 'part of the contact person’s name, not case-sensitive')),
    provinceCode: optional(divisionCode),
    cityCode: optional(divisionCode),
    districtCode: optional(divisionCode),
    billingRuleId: optional(integer()),
    hasDevices: optional(
      textOneOf(['true', 'false'], 'true: only sites with devices; false: only sites without devices.'),
    ),
    ...timeRange,
    bbox: optional(bbox),
  }),
  data: pageOf(SiteRecord),
  refusals: ['applicationNotFound'],
})

import Type, { type Static } from 'typebox'
import { operation } from '../http/operation.ts'
import {
  address,
  appId,
  closingTime,
  coordinates,
  divisionCode,
  freeText,
  integer,
  moment,
  name,
  nullable,
  optional,
  phone,
  text,
  timeOfDay,
} from '../values.ts'

/** What create site takes (document §4.1). `rushing` means slow charging and `placeholder` means occupancy. */
export const SiteRegistration = Type.Object({
  appId,
  siteName: name,
  contacts: name,
  contactsPhone: phone,
  customerServicePhone: phone,
  businessWeekDay: text(128, 'working weekdays, free text; does not take part in logic'),
  businessStartTime: timeOfDay,
  businessClosingTime: closingTime,
  sitePictureUrl: optional(freeText(2048)),
  fastChargeBillRuleId: optional(integer()),
  rushingBillRuleId: optional(integer()),
  placeholderBillRuleId: optional(integer()),
  ipcIds: optional(freeText(1024)),
  provinceCode: divisionCode,
  provinceName: name,
  cityCode: divisionCode,
  cityName: name,
  districtCode: divisionCode,
  districtName: name,
  detailAddress: optional(address),
  coordinates: optional(coordinates),
})
export type SiteRegistration = Static<typeof SiteRegistration>

/** The site record (document §2.2). */
export const SiteRecord = Type.Object({
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
})
export type SiteRecord = Static<typeof SiteRecord>

export const saveSite = operation({
  id: 'saveSite',
  summary: 'Creates a charging site under an application (document §4.1).',
  method: 'POST',
  path: '/api/charging/v1/siteManageThird/save',
  callers: ['application', 'operator'],
  body: SiteRegistration,
  data: SiteRecord,
  refusals: ['applicationNotFound', 'thirdPartyConfigMissing', 'billingRuleNotFound', 'billingRuleWrongType'],
  idempotent: true,
})

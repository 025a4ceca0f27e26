import { limits } from '../../src/vocabulary/limits.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { deviceBody, newSerial, siteBody, type TestApplication } from '../kit/records.ts'
import {
  acrossAll,
  asOperator,
  type Call,
  counting,
  joining,
  type Measured,
  none,
  ofFew,
  own,
  sorting,
  walking,
} from './calls.ts'
import { newDevice, newOperatorId } from './world.ts'

/** As a developer of two applications that have few rows. */
const ofDeveloper: Measured = {
  call: async ({ client, stranger, spare }) => {
    const developer = await newPerson(client, 'developer', [stranger.appId, spare.appId])
    return { input: {}, as: { headers: await signIn(client, developer) } }
  },
}

/**
 * Requests for which an operation runs other SQL than for its simplest request, named `operation: what is requested`.
 */
export const variants: Record<string, Measured> = {
  'streamEvents: from the beginning': own(() => ({ afterId: 0 })),
  'pageEvents: of one device': own(({ device }) => ({ deviceNo: device })),
  'pageEvents: of one site': own(({ site }) => ({ siteId: site })),
  'pageEvents: of one type': own(() => ({ type: 'site.created' })),
  'pageEvents: behind the first': counting(own(({ event }) => ({ afterId: event, pageSize: 1 }))),
  'getDevice: of any application': asOperator(({ device }) => ({ deviceNo: device })),
  'pageDevices: Has a site': own(({ site }) => ({ siteId: site })),
  'getDeviceState: of several devices': own(({ device }) => ({ deviceNos: `${device},${device}x` })),
  'getDeviceState: of several devices of any application': asOperator(({ device }) => ({ deviceNos: device })),
  'pageDevices: that were silent': joining(own(() => ({ lastReportTo: '2020-01-01 00:00:00' }))),
  'pageDevices: that reported': {
    ...own(() => ({ lastReportFrom: '2020-01-01 00:00:00' })),
    allowed: { blocks: 90_000, because: `It looks up the reports of ${limits.joinedDevicesLookedAt} devices at most.` },
  },
  'pageDevices: that Never reported': joining(own(() => ({ hasReported: 'false' }))),
  'pageDevices: over all applications': acrossAll(asOperator(none)),
  'pageDevices: sorted by time': counting(own(() => ({ sort: 'createTime', order: 'desc' }))),
  'pageDevices: of all applications, sorted by time': counting(
    asOperator(() => ({ sort: 'createTime', order: 'desc' })),
  ),
  'pageDevices: of all applications, sorted by serial': counting(asOperator(() => ({ sort: 'deviceNo' }))),
  'pageDevices: sorted by name': sorting(own(() => ({ sort: 'deviceName' }))),
  'pageSites: sorted by time': sorting(own(() => ({ sort: 'createTime', order: 'desc' }))),
  'pageSites: sorted by name': sorting(own(() => ({ sort: 'siteName' }))),
  'pageBillingRules: sorted by name': sorting(own(() => ({ sort: 'ruleName' }))),
  'pageApplications: sorted by name': sorting(asOperator(() => ({ sort: 'appName' }))),
  'pageDevices: of few, by states': ofFew({ status: 2, onlineStatus: 1, runStatus: 2 }),
  'pageDevices: of few, by a part of the serial': ofFew({ deviceNo: '7a7' }),
  'pageDevices: of few, by a part of the name': ofFew({ deviceName: 'gate 77' }),
  'pageDevices: of few, by a tag': ofFew({ tag: 'south' }),
  'pageDevices: of few, by a division': ofFew({ provinceCode: '360000', cityCode: '360100', districtCode: 'none' }),
  'pageDevices: of few, by a time': ofFew({ timeFrom: '2026-01-01 00:00:00', timeTo: '2026-01-02 00:00:00' }),
  'pageDevices: of few, by a box': ofFew({ bbox: '10,10,12,12' }),
  'pageDevices: of few, by a report': ofFew({ hasReported: 'true', modelName: 'model 7' }),
  'pageDevices: of few, sorted by model': ofFew({ sort: 'modelName' }),
  'pageDevices: on a later page': counting(
    own(() => ({ pageNo: 50, pageSize: 20 })),
    4_500,
  ),
  'pageDevices: of two applications': ofDeveloper,
  'pageSites: of few, by parts of names': ofFew({ siteName: 'site 77', contacts: 'nobody' }),
  'pageSites: of few, by a time': ofFew({ timeFrom: '2026-01-01 00:00:00', timeTo: '2026-01-02 00:00:00' }),
  'pageSites: of few, by a box': ofFew({ bbox: '30,30,31,31' }),
  'pageSites: of few, in a division': ofFew({ provinceCode: '360000', cityCode: '360100', districtCode: '360102' }),
  'pageSites: of two applications': ofDeveloper,
  'pageSites: by a rule that none names': own(() => ({ billingRuleId: 9_999_999 })),
  'pagePlacements: of several devices': own(({ device }) => ({ deviceNos: `${device},${device}x` })),
  'pageSites: by a billing rule': own(({ rule }) => ({ billingRuleId: rule })),
  'getPriceChange: of any application': asOperator(({ priceChange }) => ({ id: priceChange })),
  'pagePriceChanges: of one site': own(({ site }) => ({ siteId: site })),
  'pageAudit: of one application': counting(asOperator(({ spare }) => ({ appId: spare.appId }))),
  'updateOperator: that hands over': asOperator(async (world) => ({
    id: await newOperatorId(world),
    status: 2,
    handOverTo: await newOperatorId(world),
  })),
  'pageDeliveries: that wait': own(() => ({ status: 1 })),
  'pageDeliveries: that are not delivered': own(() => ({ isDelivered: 'false' })),
  'pageDeliveries: over all applications': acrossAll(asOperator(none)),
  'pageRefusals: of all applications, by time': counting(asOperator(() => ({ sort: 'time', order: 'desc' }))),
  'pageSites: over all applications': counting(asOperator(none)),
  'search: of what is nowhere': walking(asOperator(() => ({ text: 'no-such-thing' }))),
  'search: by a developer': walking({
    call: async ({ client, owner, device }) => ({
      input: { text: device },
      as: { headers: await signIn(client, await newPerson(client, 'developer', [owner.appId])) },
    }),
  }),
  'createDevice: with a key': { call: ({ owner }) => keyed(owner, deviceBody(owner.appId)) },
  'saveSite: with a key': { call: ({ owner }) => keyed(owner, siteBody(owner.appId)) },
  'unbindDevice: with a key': { call: async (world) => keyed(world.owner, { deviceNo: await newDevice(world) }) },
  'reportDeviceState: that changes nothing': own(({ device }) => ({ deviceNo: device })),
  'createDevice: of a serial that is held': own(({ owner, device }) => deviceBody(owner.appId, { deviceNo: device })),
}

const keyed = ({ token }: TestApplication, input: object): Call => ({
  input,
  as: { token, headers: { 'idempotency-key': newSerial('key') } },
})

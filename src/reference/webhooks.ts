import Type, { type TSchema } from 'typebox'
import { ApplicationRecord } from '../applications/contract.ts'
import { ThirdPartyConfigRecord } from '../applications/third-party-config/contract.ts'
import { BillingRuleRecord } from '../billing-rules/contract.ts'
import { testType } from '../deliveries/contract.ts'
import { DeviceRecord, TransferredDevice } from '../devices/contract.ts'
import { SiteRecord } from '../sites/contract.ts'
import { type EventType, eventTypes, eventWords } from '../vocabulary/event-types.ts'

interface Webhook {
  record: string
  data: TSchema
}

const site: Webhook = { record: 'Site', data: SiteRecord }
const device: Webhook = { record: 'Device', data: DeviceRecord }
const billingRule: Webhook = { record: 'BillingRule', data: BillingRuleRecord }
const application: Webhook = { record: 'Application', data: ApplicationRecord }
const thirdPartyConfig: Webhook = { record: 'ThirdPartyConfig', data: ThirdPartyConfigRecord }

/** The data of each type of event: the record as its operation answers it (contract §6). */
const byType: Record<EventType, Webhook> = {
  'site.created': site,
  'site.updated': site,
  'site.deleted': site,
  'device.bound': device,
  'device.updated': device,
  'device.unbound': device,
  'device.transferred': { record: 'TransferredDevice', data: TransferredDevice },
  'device.stateChanged': device,
  'billingRule.created': billingRule,
  'billingRule.updated': billingRule,
  'billingRule.deleted': billingRule,
  'application.online': application,
  'application.offline': application,
  'application.frozen': application,
  'application.unfrozen': application,
  'thirdPartyConfig.saved': thirdPartyConfig,
}

const test = {
  type: testType,
  summary: 'A test that was asked for',
  record: 'Test',
  data: Type.Object({ message: Type.String({ description: 'Words that say that it is a test.' }) }),
}

/** The messages that a callback gets, by their type. */
export const webhooks = [
  ...eventTypes.map((type) => ({ type, summary: eventWords[type].happens.en, ...byType[type] })),
  test,
]

import Type, { type TSchema } from 'typebox'
import { ApplicationRecord } from '../applications/contract.ts'
import { ThirdPartyConfigRecord } from '../applications/third-party-config/contract.ts'
import { BillingRuleRecord } from '../billing-rules/contract.ts'
import type { testType } from '../deliveries/contract.ts'
import { DeviceRecord, TransferredDevice } from '../devices/contract.ts'
import type { EventType } from '../events/contract.ts'
import { SiteRecord } from '../sites/contract.ts'

interface Webhook {
  summary: string
  record: string
  data: TSchema
}

const site = (summary: string): Webhook => ({ summary, record: 'Site', data: SiteRecord })
const device = (summary: string): Webhook => ({ summary, record: 'Device', data: DeviceRecord })
const billingRule = (summary: string): Webhook => ({ summary, record: 'BillingRule', data: BillingRuleRecord })
const application = (summary: string): Webhook => ({ summary, record: 'Application', data: ApplicationRecord })

/** What an application's callback is told of (contract §6): the data of an event is the record as its operation answers it. */
const byType: Record<EventType | typeof testType, Webhook> = {
  'site.created': site('A site was created'),
  'site.updated': site('A site was changed'),
  'site.deleted': site('A site was deleted; its record as it was'),
  'device.bound': device('A device was created and bound to the application'),
  'device.updated': device('A device was changed'),
  'device.unbound': device('A device was freed; its record as it was'),
  'device.transferred': {
    summary: 'An operator moved a device from one application to another; told to both',
    record: 'TransferredDevice',
    data: TransferredDevice,
  },
  'device.stateChanged': device('A device reported another state, or was silent for too long'),
  'billingRule.created': billingRule('A billing rule was created'),
  'billingRule.updated': billingRule('A billing rule was changed'),
  'billingRule.deleted': billingRule('A billing rule was deleted; its record as it was'),
  'application.online': application('An operator took the application online'),
  'application.offline': application('An operator took the application offline: it takes no new device'),
  'application.frozen': application('An operator froze the application'),
  'application.unfrozen': application('An operator lifted the freeze of the application'),
  'thirdPartyConfig.saved': {
    summary: 'The third-party configuration was saved',
    record: 'ThirdPartyConfig',
    data: ThirdPartyConfigRecord,
  },
  test: {
    summary: 'A test that was asked for',
    record: 'Test',
    data: Type.Object({ message: Type.String({ description: 'Words that say that it is a test.' }) }),
  },
}

export const webhooks = Object.entries(byType).map(([type, webhook]) => ({ type, ...webhook }))

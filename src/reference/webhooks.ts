import Type, { type TSchema } from 'typebox'
import { ApplicationRecord } from '../applications/contract.ts'
import { ThirdPartyConfigRecord } from '../applications/third-party-config/contract.ts'
import { BillingRuleRecord } from '../billing-rules/contract.ts'
import { testType } from '../deliveries/contract.ts'
import { DeviceRecord, TransferredDevice } from '../devices/contract.ts'
import { PlacementRecord } from '../devices/placement/contract.ts'
import { StateChangeRecord } from '../devices/state/contract.ts'
import { SiteRecord } from '../sites/contract.ts'
import { PriceChangeRecord } from '../sites/price-changes/contract.ts'
import { type EventType, eventTypes, eventWords, type OwnDataType } from '../vocabulary/event-types.ts'

interface Webhook {
  record: string
  data: TSchema
}

/** `site` of `site.created`. */
type Noun<Type extends string> = Type extends `${infer Name}.${string}` ? Name : never

/** The record as its operation returns it (contract §6). */
const byNoun: Record<Noun<EventType>, Webhook> = {
  site: { record: 'Site', data: SiteRecord },
  device: { record: 'Device', data: DeviceRecord },
  billingRule: { record: 'BillingRule', data: BillingRuleRecord },
  priceChange: { record: 'PriceChange', data: PriceChangeRecord },
  application: { record: 'Application', data: ApplicationRecord },
  thirdPartyConfig: { record: 'ThirdPartyConfig', data: ThirdPartyConfigRecord },
}

const byType: Partial<Record<EventType, Webhook>> & Record<OwnDataType, Webhook> = {
  'device.stateChanged': { record: 'DeviceStateChange', data: StateChangeRecord },
  'device.placed': { record: 'Placement', data: PlacementRecord },
  'device.unplaced': { record: 'Placement', data: PlacementRecord },
  'device.transferred': { record: 'TransferredDevice', data: TransferredDevice },
}

const webhookOf = (type: EventType) => byType[type] ?? byNoun[type.split('.')[0] as Noun<EventType>]

const test = {
  type: testType,
  summary: 'A test was requested',
  record: 'Test',
  data: Type.Object({ message: Type.String({ description: 'A sentence which says that this is a test.' }) }),
}

export const webhooks = [
  ...eventTypes.map((type) => ({ type, summary: eventWords[type].happens.en, ...webhookOf(type) })),
  test,
]

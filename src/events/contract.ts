/** Every type of event (contract §6). */
export const eventTypes = [
  'site.created',
  'site.updated',
  'site.deleted',
  'device.bound',
  'device.updated',
  'device.unbound',
  'device.transferred',
  'device.stateChanged',
  'billingRule.created',
  'billingRule.updated',
  'billingRule.deleted',
  'application.online',
  'application.offline',
  'application.frozen',
  'application.unfrozen',
  'thirdPartyConfig.saved',
] as const

export type EventType = (typeof eventTypes)[number]

/** Contract §1's table as it stands there, so that a change in the source is a failing test. */
export const contractRefusals = {
  invalidRequest: { code: 10001, status: 400 },
  tokenInvalid: { code: 10002, status: 401 },
  notPermitted: { code: 10003, status: 403 },
  applicationNotFound: { code: 10004, status: 404 },
  applicationFrozen: { code: 10005, status: 403 },
  applicationOffline: { code: 10006, status: 409 },
  tooManyRequests: { code: 10007, status: 429 },
  idempotencyKeyReused: { code: 10008, status: 422 },
  preconditionFailed: { code: 10009, status: 412 },
  clientInvalid: { code: 10030, status: 401 },
  regionNotFound: { code: 10040, status: 404 },
  deliveryNotFound: { code: 10041, status: 404 },
  callbackMissing: { code: 10042, status: 409 },
  deviceNotFound: { code: 20002, status: 404 },
  deviceBoundElsewhere: { code: 20013, status: 409 },
  deviceUnknown: { code: 20014, status: 422 },
  deviceAlreadyYours: { code: 20017, status: 409 },
  siteNotFound: { code: 30002, status: 404 },
  thirdPartyConfigMissing: { code: 30003, status: 409 },
  billingRuleNotFound: { code: 40002, status: 409 },
  billingRuleWrongType: { code: 40003, status: 409 },
  billingRuleInUse: { code: 40004, status: 409 },
  internalFault: { code: 49999, status: 500 },
  unavailable: { code: 50003, status: 503 },
} as const

export type RefusalName = keyof typeof contractRefusals

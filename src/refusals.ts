/** What a refusal says about one field, in both languages. */
export interface Reason {
  en: string
  zh: string
}

/** One faulty field of a request: its path in the body or query, and why. */
export interface FieldFault {
  field: string
  reason: Reason
}

interface RefusalKind extends Reason {
  code: number
  status: number
  /** When it is given: the text of the error page. */
  when: string
}

/** Every refusal of the service, once. The error page and the OpenAPI document are made from this table. */
export const refusals = {
  invalidRequest: {
    code: 10001,
    status: 400,
    en: 'The request is not valid.',
    zh: '请求无效。',
    when: 'A parameter, the body, the media type, the path or the method is wrong. `data.errors` names every faulty field, the first 1,000 of them. The status is 404 for an unknown path, 405 for a wrong method, 408 for a body that does not arrive in time, 413 for a body that is too large and 415 for a wrong media type.',
  },
  tokenInvalid: {
    code: 10002,
    status: 401,
    en: 'The access token, or the session, is missing, malformed, unknown, expired or revoked.',
    zh: '访问令牌或会话缺失、格式错误、未知、已过期或已被撤销。',
    when: 'The `Authorization` header holds no valid access token, and no session of the console comes from its own site. The answer carries `WWW-Authenticate: Bearer` (RFC 6750).',
  },
  notPermitted: {
    code: 10003,
    status: 403,
    en: 'The caller may not call this operation, or may not act for this application.',
    zh: '调用方无权调用此操作，或无权代表该应用操作。',
    when: 'The caller may not act for this `appId`, or may not call this operation. The answer is the same whether that application exists or not.',
  },
  applicationNotFound: {
    code: 10004,
    status: 404,
    en: 'There is no such application.',
    zh: '应用不存在。',
    when: 'Operators only: no application has this `appId`.',
  },
  applicationFrozen: {
    code: 10005,
    status: 403,
    en: 'An operator has frozen this application.',
    zh: '该应用已被运营方冻结。',
    when: 'An operator froze the application; its tokens stop working within 1 second.',
  },
  applicationOffline: {
    code: 10006,
    status: 409,
    en: 'The application is offline, so it takes no new device.',
    zh: '应用已下线，不能新增设备。',
    when: 'Create device while the application is offline, and transfer to an application that is.',
  },
  tooManyRequests: {
    code: 10007,
    status: 429,
    en: 'There are more requests of this kind than the limit allows. Try again after the time that Retry-After says.',
    zh: '请求过于频繁，超出限额；请在 Retry-After 指定的时间后重试。',
    when: 'The application is over its `rateLimitPerSecond`, has 128 reads waiting already, or asks for another replay or test while one is under way or hardly over; somebody tries passwords too often. `Retry-After` says when to come back.',
  },
  idempotencyKeyReused: {
    code: 10008,
    status: 422,
    en: 'This Idempotency-Key was used before with another body.',
    zh: '该 Idempotency-Key 已用于另一请求体。',
    when: 'The same `Idempotency-Key` came with another body within 24 hours.',
  },
  preconditionFailed: {
    code: 10009,
    status: 412,
    en: 'The record has changed since it was read.',
    zh: '记录在读取之后已被修改。',
    when: 'An update or a delete carries `If-Match`, and the record is no longer the one with that `ETag`. Read it again, and decide anew.',
  },
  clientInvalid: {
    code: 10030,
    status: 401,
    en: 'The client id or the client secret is wrong.',
    zh: '客户端标识或密钥错误。',
    when: 'Wrong client id or secret at the token operations.',
  },
  signInFailed: {
    code: 10031,
    status: 401,
    en: 'The name, the password or the key is wrong.',
    zh: '用户名、密码或密钥错误。',
    when: 'Operators only: nobody can sign in with this name and password, or with this operator key.',
  },
  regionNotFound: {
    code: 10040,
    status: 404,
    en: 'There is no such region.',
    zh: '行政区划不存在。',
    when: 'The national division table has no region with this code.',
  },
  callbackMissing: {
    code: 10042,
    status: 409,
    en: 'This application has no callback to send to, its callback has stopped, or the service sends none for now.',
    zh: '该应用没有可用的回调地址，回调已停止，或本服务暂停发送回调。',
    when: 'A replay or a test while the third-party configuration has no `callbackUrl`; a replay while the callback is stopped because it answered 410: saving the configuration lifts the stop. A test while the service runs with `FORECOURT_CALLBACKS=paused`.',
  },
  operatorNotFound: {
    code: 10050,
    status: 404,
    en: 'There is no such operator account.',
    zh: '运营账号不存在。',
    when: 'Operators only: no account has this id, or the caller is a key and has no account.',
  },
  operatorNameTaken: {
    code: 10051,
    status: 409,
    en: 'This name is taken.',
    zh: '该名称已被使用。',
    when: 'Operators only: another account, or another operator key, has this name. Upper and lower case are the same.',
  },
  setUpLinkInvalid: {
    code: 10052,
    status: 409,
    en: 'The set-up link was used before, or has expired.',
    zh: '设置链接已被使用或已过期。',
    when: 'A one-time set-up link that is unknown, used or older than 24 hours.',
  },
  sessionNotFound: {
    code: 10053,
    status: 404,
    en: 'There is no such session.',
    zh: '会话不存在。',
    when: 'Operators only: no session that lasts has this id, or it is someone else’s.',
  },
  lastAdmin: {
    code: 10054,
    status: 409,
    en: 'This is the last admin who can sign in.',
    zh: '这是最后一位可登录的管理员。',
    when: 'An update, reset or delete that would leave no active admin.',
  },
  operatorKeyNotFound: {
    code: 10055,
    status: 404,
    en: 'There is no such operator key.',
    zh: '运营密钥不存在。',
    when: 'Operators only: no key has this id.',
  },
  deviceNotFound: {
    code: 20002,
    status: 404,
    en: 'There is no such device.',
    zh: '设备不存在。',
    when: 'The serial number is unknown, or not this caller’s: one answer for both.',
  },
  deviceBoundElsewhere: {
    code: 20013,
    status: 409,
    en: 'The serial number is bound to another application.',
    zh: '该设备序列号已绑定其他应用。',
    when: 'The serial number is bound to another application, which is never named.',
  },
  deviceUnknown: {
    code: 20014,
    status: 422,
    en: 'The serial number is not in the device inventory.',
    zh: '该设备序列号不在设备库存中。',
    when: 'The inventory policy is `required` and the serial number is not in the inventory.',
  },
  deviceAlreadyYours: {
    code: 20017,
    status: 409,
    en: 'The serial number is bound to this application already.',
    zh: '该设备序列号已绑定本应用。',
    when: 'The serial number is bound to this application already.',
  },
  deviceModelNotFound: {
    code: 20021,
    status: 404,
    en: 'There is no such device model.',
    zh: '设备型号不存在。',
    when: 'Operators only: no device model has this serial prefix.',
  },
  inventoryEntryNotFound: {
    code: 20022,
    status: 404,
    en: 'There is no such inventory entry.',
    zh: '库存条目不存在。',
    when: 'Operators only: the serial number is not in the inventory.',
  },
  siteNotFound: {
    code: 30002,
    status: 404,
    en: 'There is no such site.',
    zh: '站点不存在。',
    when: 'No site of this application has this id.',
  },
  thirdPartyConfigMissing: {
    code: 30003,
    status: 409,
    en: 'The third-party configuration of this application has not been made yet.',
    zh: '该应用尚未完成第三方配置。',
    when: 'Create site before the third-party configuration was made. The configuration’s own `detail` answers it too.',
  },
  billingRuleNotFound: {
    code: 40002,
    status: 409,
    en: 'There is no such billing rule in this application.',
    zh: '该应用下不存在此计费规则。',
    when: 'A site names a billing rule that this application does not have; `data.errors` names the field. The status is 404 in the rule’s own operations.',
  },
  billingRuleWrongType: {
    code: 40003,
    status: 409,
    en: 'The billing rule has another type than this field takes.',
    zh: '计费规则的类型与该字段不符。',
    when: 'A site names a billing rule of another type, for example an occupancy rule as `fastChargeBillRuleId`; `data.errors` names the field.',
  },
  billingRuleInUse: {
    code: 40004,
    status: 409,
    en: 'A site uses this billing rule.',
    zh: '有站点正在使用该计费规则。',
    when: 'Delete of a billing rule while a site names it.',
  },
  eventNotFound: {
    code: 60002,
    status: 404,
    en: 'There is no such event.',
    zh: '事件不存在。',
    when: 'No event of this application has this id, or it is kept no longer.',
  },
  deliveryNotFound: {
    code: 60003,
    status: 404,
    en: 'There is no such delivery.',
    zh: '回调投递记录不存在。',
    when: 'No delivery of this application has this id.',
  },
  internalFault: {
    code: 49999,
    status: 500,
    en: 'Something went wrong inside the service. The request id helps to find it.',
    zh: '服务内部错误，请凭请求编号查询。',
    when: 'A fault of the service itself. It is logged whole, with the request id.',
  },
  unavailable: {
    code: 50003,
    status: 503,
    en: 'The service cannot answer right now. Please try again.',
    zh: '服务暂时不可用，请稍后重试。',
    when: 'The database is away or the service is overloaded. `Retry-After` says when to come back. A write that was under way may have happened: retry it with its `Idempotency-Key`.',
  },
} as const satisfies Record<string, RefusalKind>

export type RefusalName = keyof typeof refusals

interface RefusalDetails {
  /** Another status than the table's, where the contract names one for this case. */
  status?: number
  errors?: FieldFault[]
  headers?: Record<string, string>
  /** The application that called, of a request that is refused before anybody else is told of its caller. */
  appId?: string
}

/** A refusal on its way to the caller. `refusals` holds its public words; it never carries inner ones. */
export class Refusal extends Error {
  readonly refusal: RefusalName
  readonly status: number
  readonly errors: FieldFault[] | undefined
  readonly headers: Record<string, string>
  readonly appId: string | undefined

  constructor(refusal: RefusalName, details: RefusalDetails = {}) {
    super(refusal)
    this.refusal = refusal
    this.status = details.status ?? refusals[refusal].status
    this.errors = details.errors
    this.headers = details.headers ?? {}
    this.appId = details.appId
  }
}

/** Refuses with 10001 and names the faulty fields. */
export function invalidRequest(errors: FieldFault[], status?: number): Refusal {
  return new Refusal('invalidRequest', status === undefined ? { errors } : { errors, status })
}

/** Refuses with 50003 and `Retry-After`, in seconds. */
export function unavailable(retryAfterSeconds = 1): Refusal {
  return new Refusal('unavailable', { headers: { 'retry-after': String(retryAfterSeconds) } })
}

/** RFC 6750 §3.1: a request without a token is told no error, one with a wrong token is. */
export function tokenInvalid(error?: 'invalid_token'): Refusal {
  const challenge = error === undefined ? 'Bearer realm="forecourt"' : `Bearer realm="forecourt", error="${error}"`
  return new Refusal('tokenInvalid', { headers: { 'www-authenticate': challenge } })
}

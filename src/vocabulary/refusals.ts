/** Why a field is refused, in both languages. */
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
  /** When it is given. */
  when: string
  whenZh: string
  /** What the caller does about it; the guide of errors is made of this. */
  todo: Reason
}

/** Every refusal of the service, once. The guide of errors and the OpenAPI document are made from this table. */
export const refusals = {
  invalidRequest: {
    code: 10001,
    status: 400,
    en: 'The request is not valid.',
    zh: '请求无效。',
    when: 'A parameter, the body, the media type, the path or the method is wrong. `data.errors` names every faulty field, the first 1,000 of them. The status is 404 for an unknown path, 405 for a wrong method, 408 for a body that does not arrive in time, 413 for a body that is too large and 415 for a wrong media type.',
    whenZh:
      '参数、请求体、媒体类型、路径或方法有误。`data.errors` 列出每个出错字段，最多 1,000 个。路径不存在时状态码为 404，方法不对为 405，请求体迟迟未到为 408，请求体过大为 413，媒体类型不对为 415。',
    todo: {
      en: 'Correct every field that `data.errors` names, and send it again. The same request never succeeds.',
      zh: '按 `data.errors` 逐一更正后重新发送。原样重发不会成功。',
    },
  },
  tokenInvalid: {
    code: 10002,
    status: 401,
    en: 'The access token, or the session, is missing, malformed, unknown, expired or revoked.',
    zh: '访问令牌或会话缺失、格式错误、未知、已过期或已被撤销。',
    when: 'The `Authorization` header holds no valid access token, and the request is not one of the console with a valid session either. The response carries `WWW-Authenticate: Bearer` (RFC 6750).',
    whenZh:
      '`Authorization` 请求头中没有有效的访问令牌，也没有来自控制台本站的会话。响应带有 `WWW-Authenticate: Bearer`（RFC 6750）。',
    todo: {
      en: 'Fetch a new token and repeat the request once. If that is refused too, the request does not carry the new token: check the header.',
      zh: '重新获取令牌，并把请求重发一次。若仍被拒绝，说明请求没有带上令牌，请检查请求头。',
    },
  },
  notPermitted: {
    code: 10003,
    status: 403,
    en: 'The caller may not call this operation, or may not act for this application.',
    zh: '调用方无权调用此操作，或无权代表该应用操作。',
    when: 'The caller may not act for this `appId`, or may not call this operation. The answer is the same whether that application exists or not.',
    whenZh: '调用方无权代表该 `appId` 操作，或无权调用此接口。无论该应用是否存在，响应都相同。',
    todo: {
      en: 'Use the token of the application that `appId` names. Operations under `/api/platform/` are for operators only, except `application/detail` and `delivery/health` of your own application.',
      zh: '使用 `appId` 所指应用自己的令牌。`/api/platform/` 下的接口属于运营方，查询自身的 `application/detail` 和 `delivery/health` 除外。',
    },
  },
  applicationNotFound: {
    code: 10004,
    status: 404,
    en: 'There is no such application.',
    zh: '应用不存在。',
    when: 'Operators only: no application has this `appId`.',
    whenZh: '仅运营方会遇到：没有应用使用此 `appId`。',
    todo: {
      en: 'Take the `appId` from `application/page`.',
      zh: '从 `application/page` 中取 `appId`。',
    },
  },
  applicationFrozen: {
    code: 10005,
    status: 403,
    en: 'An operator has frozen this application.',
    zh: '该应用已被运营方冻结。',
    when: 'An operator froze the application; its tokens stop working within 1 second.',
    whenZh: '运营方冻结了该应用，其令牌在 1 秒内失效。',
    todo: {
      en: 'Stop sending requests, and ask the operator. When the application is unfrozen, fetch a new token.',
      zh: '停止调用并联系运营方。任何请求都不会改变这一状态；解冻后请重新获取令牌。',
    },
  },
  applicationOffline: {
    code: 10006,
    status: 409,
    en: 'The application is offline, so it takes no new device.',
    zh: '应用已下线，不能新增设备。',
    when: 'Creating a device while the application is offline, or transferring one to an offline application.',
    whenZh: '应用下线期间创建设备，或把设备转移到已下线的应用。',
    todo: {
      en: 'Ask the operator to take the application online. Everything else, such as creating sites, reads and state reports, still works.',
      zh: '请运营方将应用上线。其间创建站点、查询和状态上报不受影响。',
    },
  },
  tooManyRequests: {
    code: 10007,
    status: 429,
    en: 'There are more requests of this kind than the limit allows. Try again after the time that Retry-After says.',
    zh: '请求过于频繁，超出限额；请在 Retry-After 指定的时间后重试。',
    when: 'One of the limits is reached: requests a second (`rateLimitPerSecond`), 128 waiting reads, four files at once, stored bytes of files and results (`data.errors` says so), one replay or test of callbacks at a time, with a pause after it, or attempts to sign in. `Retry-After` says when to try again.',
    whenZh:
      '超过应用的 `rateLimitPerSecond`；已有 128 个查询在等待，或同时上传四个文件；其文件和结果已占满可用空间（见 `data.errors`）；上一次重放或测试尚未结束或刚刚结束就再次请求；或密码尝试过于频繁。何时再来见 `Retry-After`。',
    todo: {
      en: 'Wait as many seconds as `Retry-After` says, then repeat the same request. Spread the load, or use batches.',
      zh: '等待 `Retry-After` 所示的秒数，再重发同一请求。平时请分散请求，或改用批量接口。',
    },
  },
  idempotencyKeyReused: {
    code: 10008,
    status: 422,
    en: 'This Idempotency-Key was used before with another body.',
    zh: '该 Idempotency-Key 已用于另一请求体。',
    when: 'The same `Idempotency-Key` came with another body within 24 hours.',
    whenZh: '24 小时内，同一个 `Idempotency-Key` 用于不同的请求体。',
    todo: {
      en: 'For a retry, send exactly the bytes of the first request. For a new request, use a new key.',
      zh: '重试时逐字节发送首次的请求体；新的请求请换新的键。',
    },
  },
  preconditionFailed: {
    code: 10009,
    status: 412,
    en: 'The record has changed since it was read.',
    zh: '记录在读取之后已被修改。',
    when: 'An update or a delete carries `If-Match`, and the record has changed since it had that `ETag`.',
    whenZh: '更新或删除带有 `If-Match`，而记录的 `ETag` 已经改变。',
    todo: {
      en: 'Read the record again, decide whether your change still applies, and send it with the new `ETag`.',
      zh: '重新读取记录，重新判断，并使用新的 `ETag`。',
    },
  },
  clientInvalid: {
    code: 10030,
    status: 401,
    en: 'The client id or the client secret is wrong.',
    zh: '客户端标识或密钥错误。',
    when: 'A token operation was called with a wrong client id or secret.',
    whenZh: '令牌接口收到的客户端标识或密钥有误。',
    todo: {
      en: 'Check `client_id` (the `appId`) and the secret. After a rotation and its overlap, only the new secret is valid.',
      zh: '检查 `client_id`（即 `appId`）和密钥。密钥轮换且重叠期结束后，只有新密钥有效。',
    },
  },
  signInFailed: {
    code: 10031,
    status: 401,
    en: 'The name, the password or the key is wrong.',
    zh: '用户名、密码或密钥错误。',
    when: 'Operators only: no account has this name and password, or this operator key is not valid.',
    whenZh: '仅运营方会遇到：用户名与密码不匹配，或运营密钥无效。',
    todo: {
      en: 'Check name and password; an admin can reset the account.',
      zh: '检查用户名和密码；管理员可以重置账号。',
    },
  },
  secondFactorRequired: {
    code: 10032,
    status: 401,
    en: 'The account has a second factor, which must be shown too.',
    zh: '该账号已设置第二验证因素，需要一并提供。',
    when: 'Operators only: name and password are right, and the account has a second factor that was not shown.',
    whenZh: '仅运营方会遇到：用户名和密码正确，但账号设有第二验证因素而未提供。',
    todo: {
      en: 'Send the same request again with `code`: a code of the code generator, or a recovery code.',
      zh: '带上 `code`（动态验证码或恢复码）重新发送。',
    },
  },
  codeInvalid: {
    code: 10033,
    status: 401,
    en: 'The code is wrong, was used, or is too old.',
    zh: '验证码错误、已被使用或已过期。',
    when: 'Operators only: the code is wrong, was used before, or is too old.',
    whenZh: '仅运营方会遇到：验证码错误、已使用过或已过期。',
    todo: {
      en: 'Use the next code of the generator, and check that the clock of its device is right; or use a recovery code.',
      zh: '使用动态验证码的下一个值，并确认设备时钟准确；或使用恢复码。',
    },
  },
  secondFactorSetUpRequired: {
    code: 10034,
    status: 403,
    en: 'A second factor must be set up, or shown, first.',
    zh: '必须先设置或提供第二验证因素。',
    when: 'Operators only: the role requires a second factor. The account has none, so the session may only set one up; or it has one, which the session has not shown yet. Sessions by an operator key of such a role are refused too.',
    whenZh:
      '仅运营方会遇到：角色要求第二验证因素，会话只能先行设置；或需要先提供账号已有的验证因素。此类角色的运营密钥建立会话时也会返回此码。',
    todo: {
      en: 'Set up a passkey or a code generator (`secondFactor/…`). If the account has one, show it by `session/confirm`.',
      zh: '设置通行密钥或动态验证码（`secondFactor/…`）。已有验证因素时，通过 `session/confirm` 提供。',
    },
  },
  confirmationRequired: {
    code: 10035,
    status: 403,
    en: 'This operation needs a newer proof of who you are than the session has.',
    zh: '此操作需要重新验证身份。',
    when: 'Operators only, in sessions: the person last proved who they are (by password, passkey or code) longer ago than `FORECOURT_CONFIRM_SECONDS`.',
    whenZh: '仅运营方的会话会遇到：上次身份验证早于 `FORECOURT_CONFIRM_SECONDS`。',
    todo: {
      en: 'Prove it again by `session/confirm`, and repeat the request.',
      zh: '通过 `session/confirm` 重新验证身份，再重发请求。',
    },
  },
  regionNotFound: {
    code: 10040,
    status: 404,
    en: 'There is no such region.',
    zh: '行政区划不存在。',
    when: 'The national division table has no region with this code.',
    whenZh: '全国行政区划表中没有此代码。',
    todo: {
      en: 'Take the code from `region/tree`.',
      zh: '从 `region/tree` 中取代码。',
    },
  },
  callbackMissing: {
    code: 10042,
    status: 409,
    en: 'This application has no callback URL, its callback has stopped, or the service has paused all callbacks.',
    zh: '该应用没有可用的回调地址，回调已停止，或本服务暂停发送回调。',
    when: 'A replay or a test was requested, but the third-party configuration has no `callbackUrl`; a replay was requested, but the callback is stopped because the receiver answered 410; or a test was requested while callbacks are paused.',
    whenZh:
      '第三方配置没有 `callbackUrl` 时请求重放或测试；回调因返回 410 而停止时请求重放，重新保存配置即可恢复；回调暂停期间请求测试。',
    todo: {
      en: 'Save the third-party configuration with a `callbackUrl`: that also starts a stopped callback again. While callbacks are paused, read the feed.',
      zh: '保存带有 `callbackUrl` 的第三方配置，停止状态也随之解除。服务暂停回调期间，请改为读取事件流。',
    },
  },
  operatorNotFound: {
    code: 10050,
    status: 404,
    en: 'There is no such operator account.',
    zh: '运营账号不存在。',
    when: 'Operators only: no account has this id, or the caller is a key and has no account.',
    whenZh: '仅运营方会遇到：没有此编号的账号，或调用方是密钥、没有账号。',
    todo: {
      en: 'Take the id from `operator/page`.',
      zh: '从 `operator/page` 中取编号。',
    },
  },
  operatorNameTaken: {
    code: 10051,
    status: 409,
    en: 'This name is taken.',
    zh: '该名称已被使用。',
    when: 'Operators only: another account, or another operator key, has this name. Upper and lower case are the same.',
    whenZh: '仅运营方会遇到：其他账号或其他运营密钥已使用此名称，不区分大小写。',
    todo: {
      en: 'Choose another name.',
      zh: '换一个名称。',
    },
  },
  setUpLinkInvalid: {
    code: 10052,
    status: 409,
    en: 'The set-up link was used before, or has expired.',
    zh: '设置链接已被使用或已过期。',
    when: 'The one-time set-up link is unknown, was used, or is older than 24 hours.',
    whenZh: '一次性设置链接未知、已使用或超过 24 小时。',
    todo: {
      en: 'Ask an admin for a new link. For the first admin: restart the service; it prints a new link.',
      zh: '请管理员重新生成链接。首位管理员：重启服务，会打印新的链接。',
    },
  },
  sessionNotFound: {
    code: 10053,
    status: 404,
    en: 'There is no such session.',
    zh: '会话不存在。',
    when: 'Operators only: no active session has this id, or it is someone else’s.',
    whenZh: '仅运营方会遇到：没有此编号的有效会话，或会话属于他人。',
    todo: {
      en: 'Nothing. The session has ended already, or it is not yours.',
      zh: '无需处理：会话已结束，或不属于你。',
    },
  },
  lastAdmin: {
    code: 10054,
    status: 409,
    en: 'This is the last admin who can sign in.',
    zh: '这是最后一位可登录的管理员。',
    when: 'The update, reset or delete would leave no active admin.',
    whenZh: '此更新、重置或删除会使系统失去最后一位可用的管理员。',
    todo: {
      en: 'Create another admin first.',
      zh: '请先新建一位管理员。',
    },
  },
  operatorKeyNotFound: {
    code: 10055,
    status: 404,
    en: 'There is no such operator key.',
    zh: '运营密钥不存在。',
    when: 'Operators only: no key has this id.',
    whenZh: '仅运营方会遇到：没有此编号的密钥。',
    todo: {
      en: 'Take the id from `operatorKey/page`.',
      zh: '从 `operatorKey/page` 中取编号。',
    },
  },
  secondFactorNotFound: {
    code: 10056,
    status: 404,
    en: 'There is no such second factor.',
    zh: '第二验证因素不存在。',
    when: 'Operators only: the account has no such passkey or no code generator; or, for `reset`, no second factor at all.',
    whenZh: '仅运营方会遇到：没有此通行密钥或动态验证码；`reset` 的账号没有任何验证因素。',
    todo: {
      en: 'Read the account’s second factors by `secondFactor/detail`.',
      zh: '通过 `secondFactor/detail` 查看已有的验证因素。',
    },
  },
  lastSecondFactor: {
    code: 10057,
    status: 409,
    en: 'The role requires a second factor, and this is the last one.',
    zh: '角色要求第二验证因素，而这是最后一个。',
    when: 'Operators only: the last second factor of an account cannot be removed while its role requires one.',
    whenZh: '仅运营方会遇到：角色要求第二验证因素时，删除账号的最后一个。',
    todo: {
      en: 'Set up another one first.',
      zh: '请先设置另一个。',
    },
  },
  signOnOff: {
    code: 10060,
    status: 404,
    en: 'Single sign-on is not set up here.',
    zh: '未启用单点登录。',
    when: 'Operators only: the settings name no OpenID provider.',
    whenZh: '仅运营方会遇到：设置中没有 OpenID 提供方。',
    todo: {
      en: 'Sign in by password or passkey.',
      zh: '使用密码或通行密钥登录。',
    },
  },
  signOnFailed: {
    code: 10061,
    status: 401,
    en: 'The sign-on did not succeed.',
    zh: '单点登录未成功。',
    when: 'Operators only: the provider’s response does not belong to the sign-on that was begun, came too late, or came twice.',
    whenZh: '仅运营方会遇到：提供方返回的内容与请求不符、返回过晚或重复返回。',
    todo: {
      en: 'Begin the sign-on again. If it fails again, give an admin the request id.',
      zh: '重新开始登录。仍失败时，请把请求编号提供给管理员。',
    },
  },
  signOnRefused: {
    code: 10062,
    status: 403,
    en: 'The provider knows you, but you have no access here.',
    zh: '提供方已确认身份，但你在此没有访问权限。',
    when: 'Operators only: the provider has identified the person, but they have no account here, no role, or a disabled account.',
    whenZh: '仅运营方会遇到：提供方已确认身份，但此处没有账号、没有角色，或账号已停用。',
    todo: {
      en: 'Ask an admin for an account, or for the group at the provider that gives a role here.',
      zh: '请管理员开通账号，或在提供方加入对应角色的用户组。',
    },
  },
  signOnUnavailable: {
    code: 10063,
    status: 503,
    en: 'The sign-on provider does not answer.',
    zh: '单点登录提供方没有响应。',
    when: 'Operators only: the provider cannot be reached, or answers wrongly.',
    whenZh: '仅运营方会遇到：无法连接提供方，或其响应有误。',
    todo: {
      en: 'Try again in a moment. Admins who have a password can sign in with it; `forecourt doctor` says what is wrong.',
      zh: '稍后重试。有密码的管理员可用密码登录；`forecourt doctor` 会说明原因。',
    },
  },
  signOnLinked: {
    code: 10064,
    status: 409,
    en: 'The identity belongs to another account, or the account to another identity.',
    zh: '该身份已属于其他账号，或账号已关联其他身份。',
    when: 'Operators only: the identity is linked to another account, or the account is linked to another identity.',
    whenZh: '仅运营方会遇到：关联的身份已属于其他账号，或账号已关联其他身份。',
    todo: {
      en: 'Unlink the other one first (`signOn/unlink`).',
      zh: '请先解除另一项关联（`signOn/unlink`）。',
    },
  },
  managedBySignOn: {
    code: 10065,
    status: 409,
    en: 'The sign-on provider decides this.',
    zh: '此项由单点登录提供方决定。',
    when: 'Operators only: the role, password and link of an account that single sign-on created cannot be changed here.',
    whenZh: '仅运营方会遇到：更改由提供方创建的账号的角色、密码或关联。',
    todo: {
      en: 'Change it at the provider. To keep the person out, disable the account.',
      zh: '在提供方处更改。若要禁止此人访问，请停用账号。',
    },
  },
  passwordSignInOff: {
    code: 10066,
    status: 403,
    en: 'Only admins sign in by password here.',
    zh: '此处仅管理员可用密码登录。',
    when: 'Operators only: the password is right, but the settings let only admins sign in by password.',
    whenZh: '仅运营方会遇到：密码正确，但设置只允许管理员用密码登录。',
    todo: {
      en: 'Sign in by single sign-on, or by a passkey.',
      zh: '使用单点登录或通行密钥登录。',
    },
  },
  viewNotFound: {
    code: 10070,
    status: 404,
    en: 'There is no such view.',
    zh: '视图不存在。',
    when: 'Operators only: the account has no view with this id.',
    whenZh: '仅运营方会遇到：账号没有此编号的视图。',
    todo: {
      en: 'Take the id from `view/page`.',
      zh: '从 `view/page` 中取编号。',
    },
  },
  viewNameTaken: {
    code: 10071,
    status: 409,
    en: 'Another view of this list has this name.',
    zh: '该列表的另一个视图已使用此名称。',
    when: 'Operators only: another view of the same list in this account has this name.',
    whenZh: '仅运营方会遇到：同一账号、同一列表的另一个视图已使用此名称。',
    todo: {
      en: 'Choose another name, or delete the other view first.',
      zh: '换一个名称，或先删除另一个视图。',
    },
  },
  deviceNotFound: {
    code: 20002,
    status: 404,
    en: 'There is no such device.',
    zh: '设备不存在。',
    when: 'The serial number is unknown, or another application owns it: the answer is the same for both.',
    whenZh: '序列号不存在，或不属于调用方：两种情况响应相同。',
    todo: {
      en: 'Check the serial, upper and lower case too, and whether it was unbound or moved: `guard/history` shows your own bindings.',
      zh: '检查序列号（区分大小写），以及设备是否已解绑或转移：自己的绑定记录可用 `guard/history` 查询。',
    },
  },
  deviceBoundElsewhere: {
    code: 20013,
    status: 409,
    en: 'The serial number is bound to another application.',
    zh: '该设备序列号已绑定其他应用。',
    when: 'The serial number is bound to another application, which is never named.',
    whenZh: '该序列号已绑定其他应用，响应不会透露是哪个应用。',
    todo: {
      en: 'Check the serial. If the device is yours, ask the operator to transfer it or to free it.',
      zh: '核对序列号。若设备确属你方，请运营方转移或强制解绑。',
    },
  },
  deviceUnknown: {
    code: 20014,
    status: 422,
    en: 'The serial number is not in the device inventory.',
    zh: '该设备序列号不在设备库存中。',
    when: 'The inventory policy is `required` and the serial number is not in the inventory.',
    whenZh: '设备库存策略为 `required`，而库存中没有该序列号。',
    todo: {
      en: 'Ask the operator to import the serial into the inventory.',
      zh: '请运营方将该序列号导入设备库存。',
    },
  },
  deviceAlreadyYours: {
    code: 20017,
    status: 409,
    en: 'The serial number is bound to this application already.',
    zh: '该设备序列号已绑定本应用。',
    when: 'The serial number is bound to this application already.',
    whenZh: '该序列号已绑定本应用。',
    todo: {
      en: 'The device exists: read it by `guard/detail`. If the response to your first attempt was lost, this means that it succeeded.',
      zh: '设备已存在，用 `guard/detail` 读取即可。若首次响应丢失，这说明首次请求已成功。',
    },
  },
  deviceModelNotFound: {
    code: 20021,
    status: 404,
    en: 'There is no such device model.',
    zh: '设备型号不存在。',
    when: 'Operators only: no device model has this serial prefix.',
    whenZh: '仅运营方会遇到：没有此序列号前缀的设备型号。',
    todo: {
      en: 'Take the prefix from `deviceModel/page`.',
      zh: '从 `deviceModel/page` 中取前缀。',
    },
  },
  inventoryEntryNotFound: {
    code: 20022,
    status: 404,
    en: 'There is no such inventory entry.',
    zh: '库存条目不存在。',
    when: 'Operators only: the serial number is not in the inventory.',
    whenZh: '仅运营方会遇到：库存中没有该序列号。',
    todo: {
      en: 'Take the serial from `deviceInventory/page`.',
      zh: '从 `deviceInventory/page` 中取序列号。',
    },
  },
  placementNotFound: {
    code: 20030,
    status: 404,
    en: 'The device stands at no site.',
    zh: '该设备未安放在任何站点。',
    when: 'The application owns the device, but the device stands at no site.',
    whenZh: '设备属于该应用，但当前没有安放在任何站点。',
    todo: {
      en: 'Place it by `placement/save`. Its earlier placements are in `placement/history`.',
      zh: '用 `placement/save` 安放设备。此前的安放记录见 `placement/history`。',
    },
  },
  siteNotFound: {
    code: 30002,
    status: 404,
    en: 'There is no such site.',
    zh: '站点不存在。',
    when: 'No site of this application has this id.',
    whenZh: '该应用下没有此编号的站点。',
    todo: {
      en: 'Take the id from `siteManageThird/page`; it may have been deleted.',
      zh: '从 `siteManageThird/page` 中取编号；站点可能已被删除。',
    },
  },
  thirdPartyConfigMissing: {
    code: 30003,
    status: 409,
    en: 'The third-party configuration of this application has not been saved yet.',
    zh: '该应用尚未完成第三方配置。',
    when: 'A site was to be created, or the configuration was read by `thirdPartyConfig/detail`, before the third-party configuration was saved.',
    whenZh: '尚未完成第三方配置就创建站点；读取该配置的 `detail` 时也会返回此码。',
    todo: {
      en: 'Save it once by `thirdPartyConfig/save`: `operatorName` is enough.',
      zh: '调用一次 `thirdPartyConfig/save`，只需 `operatorName`。',
    },
  },
  billingRuleNotFound: {
    code: 40002,
    status: 409,
    en: 'There is no such billing rule in this application.',
    zh: '该应用下不存在此计费规则。',
    when: 'A site names a billing rule that this application does not have; `data.errors` names the field. The operations on billing rules answer it with status 404.',
    whenZh: '站点引用的计费规则不属于该应用，`data.errors` 指出字段。在计费规则自身的接口中状态码为 404。',
    todo: {
      en: 'Create the rule first, and use the id that `billingRule/page` shows for this application.',
      zh: '先创建计费规则，并使用本应用 `billingRule/page` 中的编号。',
    },
  },
  billingRuleWrongType: {
    code: 40003,
    status: 409,
    en: 'The type of the billing rule does not fit this field.',
    zh: '计费规则的类型与该字段不符。',
    when: 'A site names a billing rule of another type, for example an occupancy rule as `fastChargeBillRuleId`; `data.errors` names the field.',
    whenZh: '站点引用的计费规则类型不符，例如把占位规则填入 `fastChargeBillRuleId`；`data.errors` 指出字段。',
    todo: {
      en: '`fastChargeBillRuleId` takes type 1, `rushingBillRuleId` type 2 (slow charging), `placeholderBillRuleId` type 3 (occupancy).',
      zh: '`fastChargeBillRuleId` 对应类型 1，`rushingBillRuleId` 对应类型 2（慢充），`placeholderBillRuleId` 对应类型 3（占位）。',
    },
  },
  billingRuleInUse: {
    code: 40004,
    status: 409,
    en: 'A site uses this billing rule, or will use it by a scheduled price change.',
    zh: '有站点正在使用或即将使用该计费规则。',
    when: 'The billing rule cannot be deleted while a site names it, or while a waiting price change gives it to sites.',
    whenZh: '仍有站点引用该计费规则，或等待中的价格变更将把它分配给站点时，将其删除。',
    todo: {
      en: 'Find the sites by `siteManageThird/page?billingRuleId=…`, and the waiting price changes by `priceChange/page?status=1&billingRuleId=…`. Give the sites another rule, cancel these price changes, then delete.',
      zh: '用 `siteManageThird/page?billingRuleId=…` 找出站点，用 `priceChange/page?status=1&billingRuleId=…` 找出等待中的变更。改用其他规则、取消变更后再删除。',
    },
  },
  priceChangeNotFound: {
    code: 40005,
    status: 404,
    en: 'There is no such price change.',
    zh: '价格变更不存在。',
    when: 'No price change of this application has this id.',
    whenZh: '该应用下没有此编号的价格变更。',
    todo: {
      en: 'Take the id from `priceChange/page`.',
      zh: '从 `priceChange/page` 中取编号。',
    },
  },
  priceChangeWrongState: {
    code: 40006,
    status: 409,
    en: 'The price change is not in a state that allows this.',
    zh: '价格变更当前的状态不允许此操作。',
    when: 'A price change that is in force or cancelled cannot be cancelled; one that is not in force, or of which nothing is left to restore, cannot be undone.',
    whenZh: '取消已生效或已取消的价格变更；撤销尚未生效的价格变更，或已没有可恢复内容的价格变更。',
    todo: {
      en: 'Read its state by `priceChange/detail`. `undo` is for a price change in force, `cancel` for a waiting one.',
      zh: '用 `priceChange/detail` 读取。已生效的用 `undo` 撤销，等待中的用 `cancel` 取消。',
    },
  },
  priceChangeClash: {
    code: 40007,
    status: 409,
    en: 'Another waiting price change is for the same rule or sites at the same moment, or too many price changes are waiting.',
    zh: '另一项等待中的价格变更会在同一时刻更改相同内容，或等待中的变更过多。',
    when: 'Another waiting price change is for the same rule or sites at the same moment; or 32 price changes of the billing rule, or 200 of the application, are waiting already.',
    whenZh: '另一项等待中的价格变更会在同一时刻更改相同内容；或该计费规则已有 32 项、该应用已有 200 项变更在等待。',
    todo: {
      en: 'Find the waiting price changes by `priceChange/page?status=1`; cancel one, or choose another moment.',
      zh: '用 `priceChange/page?status=1` 查看等待中的变更；取消它，或换一个时刻。',
    },
  },
  eventNotFound: {
    code: 60002,
    status: 404,
    en: 'There is no such event.',
    zh: '事件不存在。',
    when: 'No event of this application has this id, or the event has been removed after its retention time.',
    whenZh: '该应用下没有此编号的事件，或该事件已过保留期。',
    todo: {
      en: 'Take the id from `event/page`.',
      zh: '从 `event/page` 中取编号。',
    },
  },
  deliveryNotFound: {
    code: 60003,
    status: 404,
    en: 'There is no such delivery.',
    zh: '回调投递记录不存在。',
    when: 'No delivery of this application has this id.',
    whenZh: '该应用下没有此编号的投递记录。',
    todo: {
      en: 'Take the id from `delivery/page`; deliveries are kept 30 days by default.',
      zh: '从 `delivery/page` 中取编号；投递记录默认保留 30 天。',
    },
  },
  importNotFound: {
    code: 70002,
    status: 404,
    en: 'There is no such import or act.',
    zh: '导入任务或批量操作不存在。',
    when: 'No import or act of this application has this id, or it was removed after 7 days.',
    whenZh: '该应用下没有此编号的导入任务或批量操作，或已过保留期。',
    todo: {
      en: 'Take the id from `import/page` or `act/page`; both are removed after 7 days.',
      zh: '从 `import/page` 或 `act/page` 中取编号；两者均保留 7 天。',
    },
  },
  importRunning: {
    code: 70003,
    status: 409,
    en: 'Another import or act of this application is under way, or this one has ended.',
    zh: '该应用已有导入任务或批量操作正在进行，或此任务已经结束。',
    when: 'An import or act was to be created while another one of the application waits or runs; or one that has ended was to be cancelled.',
    whenZh: '应用已有等待中或进行中的导入任务或批量操作时再次创建；或取消已经结束的任务。',
    todo: {
      en: 'Wait until `import/detail` or `act/detail` shows a status of 3 or more, or cancel it.',
      zh: '等到 `import/detail` 或 `act/detail` 的状态为 3 或以上，或先将其取消。',
    },
  },
  rowsChanged: {
    code: 70004,
    status: 409,
    en: 'The number of matching rows is not the expected one.',
    zh: '符合条件的行数已变化。',
    when: 'The `expectedRows` of an act on everything that matches is not the number of rows that match now.',
    whenZh: '对所有符合条件的记录执行操作时给出了预期行数，而现在的行数不同。',
    todo: {
      en: 'Look at the rows again. If the number that `data.errors` names is right, send that number.',
      zh: '重新查看这些记录；确认无误后按 `data.errors` 给出的数量再次提交。',
    },
  },
  internalFault: {
    code: 49999,
    status: 500,
    en: 'Something went wrong inside the service. The request id helps to find it.',
    zh: '服务内部错误，请凭请求编号查询。',
    when: 'The service itself has failed. The error is in its log, with the request id.',
    whenZh: '服务自身的故障，已连同请求编号完整记入日志。',
    todo: {
      en: 'Repeat once with the same `Idempotency-Key`. If it fails again, give the operator the `X-Request-Id`.',
      zh: '用同一个 `Idempotency-Key` 重试一次；仍失败时，请把 `X-Request-Id` 提供给运营方。',
    },
  },
  unavailable: {
    code: 50003,
    status: 503,
    en: 'The service cannot answer right now. Please try again.',
    zh: '服务暂时不可用，请稍后重试。',
    when: 'The database is not available, or the service is overloaded. `Retry-After` says when to try again. A write that was in progress may have taken effect: retry it with its `Idempotency-Key`.',
    whenZh:
      '数据库不可用，或服务过载。何时再来见 `Retry-After`。进行中的写入可能已经生效，请用原 `Idempotency-Key` 重试。',
    todo: {
      en: 'Wait as many seconds as `Retry-After` says, then repeat the same request with the same `Idempotency-Key`.',
      zh: '等待 `Retry-After` 所示的秒数，再用同一个 `Idempotency-Key` 重发同一请求。',
    },
  },
} as const satisfies Record<string, RefusalKind>

export type RefusalName = keyof typeof refusals

interface RefusalDetails {
  /** A status other than the table's, if the contract names one for this case. */
  status?: number
  errors?: FieldFault[]
  headers?: Record<string, string>
  /** The calling application, if the request is refused before its caller is known to the handler. */
  appId?: string
  /** The caller's name for the log, where a request is refused before its caller is known. */
  actor?: string
}

/** A refusal on its way to the caller. Its public words are in `refusals`; it never carries internal details. */
export class Refusal extends Error {
  readonly refusal: RefusalName
  readonly status: number
  readonly errors: FieldFault[] | undefined
  readonly headers: Record<string, string>
  readonly appId: string | undefined
  readonly actor: string | undefined

  constructor(refusal: RefusalName, details: RefusalDetails = {}) {
    super(refusal)
    this.refusal = refusal
    this.status = details.status ?? refusals[refusal].status
    this.errors = details.errors
    this.headers = details.headers ?? {}
    this.appId = details.appId
    this.actor = details.actor
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

/** RFC 6750 §3.1: the answer to a request without a token has no error code, that to a wrong token has one. */
export function tokenInvalid(error?: 'invalid_token'): Refusal {
  const challenge = error === undefined ? 'Bearer realm="forecourt"' : `Bearer realm="forecourt", error="${error}"`
  return new Refusal('tokenInvalid', { headers: { 'www-authenticate': challenge } })
}

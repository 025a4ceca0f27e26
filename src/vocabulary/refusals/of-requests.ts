import type { RefusalKind } from './kind.ts'

/** Refusals that any request can get: for its form, its caller, how often it comes, or its key for retries. */
export const requestRefusals = {
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
    when: 'One of the limits is reached: requests a second (`rateLimitPerSecond`), a fifth of the requests under way, 128 waiting reads, 8 waiting bulk actions, four files at once, stored bytes of files and results (`data.errors` says so), one replay or test of callbacks at a time, with a pause after it, or attempts to sign in. `Retry-After` says when to try again.',
    whenZh:
      '超过应用的 `rateLimitPerSecond`；处理中的请求已占总数的五分之一；已有 128 个查询或 8 个批量操作在等待，或同时上传四个文件；其文件和结果已占满可用空间（见 `data.errors`）；上一次重放或测试尚未结束或刚刚结束就再次请求；或密码尝试过于频繁。何时再来见 `Retry-After`。',
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
} as const satisfies Record<string, RefusalKind>

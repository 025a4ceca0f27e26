import type { RefusalKind } from './kind.ts'

export const requestRefusals = {
  invalidRequest: {
    code: 10001,
    status: 400,
    en: 'The request is not valid.',
    zh: '请求无效。',
    when: 'A parameter, the body, the media type, the path or the method is not valid. `data.errors` lists all invalid fields, up to 1,000. Status 404: unknown path; 405: wrong method; 408: the body didn’t arrive in time; 413: the body is too large; 415: wrong media type.',
    whenZh:
      '参数、请求体、媒体类型、路径或方法有误。`data.errors` 列出每个出错字段，最多 1,000 个。路径不存在时状态码为 404，方法不对为 405，请求体未及时到达为 408，请求体过大为 413，媒体类型不对为 415。',
    todo: {
      en: 'Correct the fields in `data.errors` and send the request again. The unchanged request never succeeds.',
      zh: '按 `data.errors` 逐一更正后重新发送。原样重发不会成功。',
    },
  },
  tokenInvalid: {
    code: 10002,
    status: 401,
    en: 'The access token or session is missing or not valid.',
    zh: '访问令牌或会话缺失、格式错误、未知、已过期或已被撤销。',
    when: 'The `Authorization` header has no valid access token, and the request has no valid console session. The token may be missing, malformed, unknown, expired or revoked. The response has `WWW-Authenticate: Bearer` (RFC 6750).',
    whenZh:
      '`Authorization` 请求头中没有有效的访问令牌，也没有来自控制台本站的会话。响应带有 `WWW-Authenticate: Bearer`（RFC 6750）。',
    todo: {
      en: 'Get a new token and retry once. If that is refused too, check that the request sends the new token in the header.',
      zh: '重新获取令牌，并把请求重发一次。若仍被拒绝，说明请求没有带上令牌，请检查请求头。',
    },
  },
  notPermitted: {
    code: 10003,
    status: 403,
    en: 'You do not have permission for this operation or application.',
    zh: '调用方无权调用此操作，或无权代表该应用操作。',
    when: 'The caller doesn’t have permission for this operation or this `appId`. The response is the same whether the application exists or not.',
    whenZh: '调用方无权代表该 `appId` 操作，或无权调用此接口。无论该应用是否存在，响应都相同。',
    todo: {
      en: 'Use the token of the application in `appId`. Operations under `/api/platform/` are for platform operators only, except `application/detail` and `delivery/health` of your own application.',
      zh: '使用 `appId` 所指应用自己的令牌。`/api/platform/` 下的接口属于运营方，查询自身的 `application/detail` 和 `delivery/health` 除外。',
    },
  },
  applicationNotFound: {
    code: 10004,
    status: 404,
    en: 'Application not found.',
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
    en: 'This application is frozen.',
    zh: '该应用已被运营方冻结。',
    when: 'The platform operator froze the application. Its tokens stop working within 1 second.',
    whenZh: '运营方冻结了该应用，其令牌在 1 秒内失效。',
    todo: {
      en: 'Stop sending requests and contact the platform operator. After the application is unfrozen, get a new token.',
      zh: '停止调用并联系运营方。任何请求都不会改变这一状态；解冻后请重新获取令牌。',
    },
  },
  applicationOffline: {
    code: 10006,
    status: 409,
    en: 'The application is offline, so it cannot create devices.',
    zh: '应用已下线，不能新增设备。',
    when: 'Creating a device while the application is offline, or transferring one to an offline application.',
    whenZh: '应用下线期间创建设备，或把设备转移到已下线的应用。',
    todo: {
      en: 'Ask the platform operator to bring the application online. Everything else, such as creating sites, reading and reporting states, still works.',
      zh: '请运营方将应用上线。其间创建站点、查询和状态上报不受影响。',
    },
  },
  tooManyRequests: {
    code: 10007,
    status: 429,
    en: 'Too many requests. Try again after the time in Retry-After.',
    zh: '请求过于频繁，超出限额；请在 Retry-After 指定的时间后重试。',
    when: 'A limit was reached: requests per second (`rateLimitPerSecond`), a fifth of the concurrent requests, 128 waiting reads, 8 waiting bulk actions, four uploads at once, storage for files and results (see `data.errors`), one replay or callback test at a time, or sign-in attempts. `Retry-After` gives the time to wait.',
    whenZh:
      '超过应用的 `rateLimitPerSecond`；处理中的请求已占总数的五分之一；已有 128 个查询或 8 个批量操作在等待，或同时上传四个文件；其文件和结果已占满可用空间（见 `data.errors`）；上一次重新投递或测试尚未结束或刚刚结束就再次请求；或登录尝试过于频繁。重试时间见 `Retry-After`。',
    todo: {
      en: 'Wait for the number of seconds in `Retry-After`, then send the same request again. Spread the load, or use batch operations.',
      zh: '等待 `Retry-After` 所示的秒数，再重发同一请求。平时请分散请求，或改用批量接口。',
    },
  },
  idempotencyKeyReused: {
    code: 10008,
    status: 422,
    en: 'This Idempotency-Key was already used with a different body.',
    zh: '该 Idempotency-Key 已用于另一请求体。',
    when: 'The same `Idempotency-Key` was used with a different body within 24 hours.',
    whenZh: '24 小时内，同一个 `Idempotency-Key` 用于不同的请求体。',
    todo: {
      en: 'For a retry, send exactly the same bytes. For a new request, use a new key.',
      zh: '重试时逐字节发送首次的请求体；新的请求请换新的键。',
    },
  },
  preconditionFailed: {
    code: 10009,
    status: 412,
    en: 'The record has changed since you read it.',
    zh: '记录在读取之后已被修改。',
    when: 'An update or delete has `If-Match`, and the record’s `ETag` is different now.',
    whenZh: '更新或删除带有 `If-Match`，而记录的 `ETag` 已经改变。',
    todo: {
      en: 'Read the record again, decide whether your change still applies, and send it with the new `ETag`.',
      zh: '重新读取记录，重新判断，并使用新的 `ETag`。',
    },
  },
  clientInvalid: {
    code: 10030,
    status: 401,
    en: 'The client ID or secret is wrong.',
    zh: '客户端标识或密钥错误。',
    when: 'A token request with a wrong client ID or secret.',
    whenZh: '令牌接口收到的客户端标识或密钥有误。',
    todo: {
      en: 'Check `client_id` (the `appId`) and the secret. After a rotation and its overlap, only the new secret is valid.',
      zh: '检查 `client_id`（即 `appId`）和密钥。密钥轮换且重叠期结束后，只有新密钥有效。',
    },
  },
} as const satisfies Record<string, RefusalKind>

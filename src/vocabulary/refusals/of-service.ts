import type { RefusalKind } from './kind.ts'

export const serviceRefusals = {
  internalFault: {
    code: 49999,
    status: 500,
    en: 'Internal error. When you ask for help, include the request ID.',
    zh: '服务内部错误，请凭请求编号查询。',
    when: 'An internal error. The service logs it with the request ID.',
    whenZh: '服务自身的故障，已连同请求编号完整记入日志。',
    todo: {
      en: 'Retry once with the same `Idempotency-Key`. If it fails again, send the `X-Request-Id` to the platform operator.',
      zh: '用同一个 `Idempotency-Key` 重试一次；仍失败时，请把 `X-Request-Id` 提供给运营方。',
    },
  },
  unavailable: {
    code: 50003,
    status: 503,
    en: 'The service is temporarily unavailable. Try again in a moment.',
    zh: '服务暂时不可用，请稍后重试。',
    when: 'The database is unavailable, or the service is overloaded. `Retry-After` gives the time to wait. A write that was in progress may have succeeded: retry it with the same `Idempotency-Key`.',
    whenZh:
      '数据库不可用，或服务过载。重试时间见 `Retry-After`。进行中的写入可能已经生效，请用原 `Idempotency-Key` 重试。',
    todo: {
      en: 'Wait for the number of seconds in `Retry-After`, then send the same request again with the same `Idempotency-Key`.',
      zh: '等待 `Retry-After` 所示的秒数，再用同一个 `Idempotency-Key` 重发同一请求。',
    },
  },
} as const satisfies Record<string, RefusalKind>

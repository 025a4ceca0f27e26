import type { RefusalKind } from './kind.ts'

/** Refusals for which the request is not the reason. */
export const serviceRefusals = {
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

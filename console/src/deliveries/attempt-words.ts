import { type AttemptError, attemptErrorOf } from '../../../src/deliveries/health/contract.ts'
import { defineTexts } from '../language/index.ts'

const useTexts = defineTexts(
  {
    httpStatus: 'Answered HTTP {{detail}}',
    nameNotFound: 'The host name does not exist{{detail}}',
    nameServerSilent: 'The name server did not answer',
    privateAddress: 'The address is private, local or reserved',
    timeout: 'No answer in time{{detail}}',
    refused: 'The connection was refused{{detail}}',
    closed: 'The connection was closed{{detail}}',
    unreachable: 'There is no route to the address{{detail}}',
    tls: 'The TLS certificate or connection is not valid{{detail}}',
    url: 'The callback URL is not allowed any more',
    secret: 'The callback secret cannot be opened',
    eventGone: 'The event is no longer kept',
    other: 'The connection failed{{detail}}',
    detail: ' ({{code}})',
  },
  {
    httpStatus: '返回 HTTP {{detail}}',
    nameNotFound: '域名不存在{{detail}}',
    nameServerSilent: '域名服务器没有响应',
    privateAddress: '地址为私有、本地或保留地址',
    timeout: '超时未响应{{detail}}',
    refused: '连接被拒绝{{detail}}',
    closed: '连接被关闭{{detail}}',
    unreachable: '无法路由到该地址{{detail}}',
    tls: 'TLS 证书或连接无效{{detail}}',
    url: '回调地址已不被允许',
    secret: '回调密钥无法解密',
    eventGone: '事件已不再保留',
    other: '连接失败{{detail}}',
    detail: '（{{code}}）',
  },
)

/** Why an attempt failed, in the user's language, with the code that helps an engineer. */
export function useAttemptWords(): (error: string) => string {
  const t = useTexts()
  return (error) => {
    const kind: AttemptError = attemptErrorOf(error)
    if (kind === 'httpStatus') return t(kind, { detail: /\d+/.exec(error)?.[0] ?? '' })
    const code = /\((\w+)\)$/.exec(error)?.[1]
    return t(kind, { detail: code === undefined || code === 'unknown' ? '' : t('detail', { code }) })
  }
}

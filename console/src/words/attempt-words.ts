import { type AttemptError, attemptErrorOf } from '../../../src/deliveries/health/contract.ts'

interface Words {
  en: string
  zh: string
}

/** What became of an attempt. `{{detail}}` is the HTTP status, or the code by which an engineer finds more. */
const words: Record<AttemptError, Words> = {
  httpStatus: { en: 'HTTP {{detail}}', zh: '返回 HTTP {{detail}}' },
  nameNotFound: { en: 'Host name not found{{detail}}', zh: '域名不存在{{detail}}' },
  nameServerSilent: { en: 'DNS server didn’t respond', zh: '域名服务器没有响应' },
  privateAddress: { en: 'Address is private, local or reserved', zh: '地址为私有、本地或保留地址' },
  timeout: { en: 'Timed out{{detail}}', zh: '超时未响应{{detail}}' },
  refused: { en: 'Connection refused{{detail}}', zh: '连接被拒绝{{detail}}' },
  closed: { en: 'Connection closed{{detail}}', zh: '连接被关闭{{detail}}' },
  unreachable: { en: 'No route to host{{detail}}', zh: '无法路由到该地址{{detail}}' },
  tls: { en: 'Invalid TLS certificate or connection{{detail}}', zh: 'TLS 证书或连接无效{{detail}}' },
  url: { en: 'Callback URL no longer allowed', zh: '回调地址已不被允许' },
  secret: { en: 'Callback secret can’t be decrypted', zh: '回调密钥无法解密' },
  eventGone: { en: 'Event no longer stored', zh: '事件已不再保留' },
  other: { en: 'Connection failed{{detail}}', zh: '连接失败{{detail}}' },
}

const inBrackets: Words = { en: ' ({{code}})', zh: '（{{code}}）' }

/** Why an attempt failed, in the reader's words. A text that no service of this version writes is shown as it is. */
export function attemptWords(error: string, language: keyof Words): string {
  const kind = attemptErrorOf(error)
  if (kind === 'other' && !error.startsWith('the connection failed')) return error
  const code = /\((\w+)\)$/.exec(error)?.[1]
  const hasCode = code !== undefined && code !== 'unknown'
  const ofCode = hasCode ? inBrackets[language].replace('{{code}}', code) : ''
  const detail = kind === 'httpStatus' ? (/\d+/.exec(error)?.[0] ?? '') : ofCode
  return words[kind][language].replace('{{detail}}', detail)
}

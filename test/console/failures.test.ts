import { expect, test } from 'bun:test'
import { attemptWords } from '../../console/src/words/attempt-words.ts'
import { jobFailureWords } from '../../console/src/words/job-failure-words.ts'
import { sentencesOf } from '../../console/src/words/sentences.ts'
import { accessLost, attemptsFailed, rowsLost, rowsRefused } from '../../src/bulk/jobs/failure/rules.ts'

// Why a delivery, an import or a bulk act failed is kept in English, and told in the reader's language.

test.each([
  ['answered 503', 'HTTP 503', '返回 HTTP 503'],
  ['the connection failed (ECONNREFUSED)', 'Connection refused (ECONNREFUSED)', '连接被拒绝（ECONNREFUSED）'],
  ['no answer in time', 'Timed out', '超时未响应'],
  [
    'the connection failed (CERT_HAS_EXPIRED)',
    'Invalid TLS certificate or connection (CERT_HAS_EXPIRED)',
    'TLS 证书或连接无效（CERT_HAS_EXPIRED）',
  ],
  ['the name was not found (ENOTFOUND)', 'Host name not found (ENOTFOUND)', '域名不存在（ENOTFOUND）'],
  ['the connection failed (unknown)', 'Connection failed', '连接失败'],
  ['a text of a later version', 'a text of a later version', 'a text of a later version'],
])('an attempt that failed as “%s” is told in both languages', (error, en, zh) => {
  expect([attemptWords(error, 'en'), attemptWords(error, 'zh')]).toEqual([en, zh])
})

const job = { noun: 'import', id: 7, place: '12' } as const
const act = { noun: 'act', id: 8, place: 'AB-1' } as const
const unbegun = { ...act, place: null }

test.each([
  [
    job,
    accessLost(job, 'applicationFrozen'),
    'It stopped at line 12 because the person or program that started it lost access: the application is frozen (10005). Rows before that point are done.',
    '在第 12 行停止：发起者不能再继续，应用已被冻结（10005）。之前的数据已处理。',
  ],
  [
    act,
    rowsRefused(act),
    'It stopped at AB-1 because 1000000 rows were refused. Correct them and upload them again.',
    '在 AB-1 处停止：已有 1000000 行被拒绝，请更正后重新提交。',
  ],
  [
    unbegun,
    attemptsFailed(unbegun, { name: 'PostgresError', code: '53100' }),
    'It stopped after 20 failed attempts (PostgresError 53100). For details, search the service log for ID 8.',
    '已停止：连续 20 次尝试失败（PostgresError 53100）。详情见服务日志，编号 8。',
  ],
  [job, rowsLost(3), '3 rows of the file were lost. Upload the file again.', '文件中有 3 行已丢失，请重新提交。'],
])('why %j failed is told in both languages', ({ noun, id }, { failure, words }, en, zh) => {
  const told = { noun, id, failure, error: words }
  expect([jobFailureWords(told, 'en'), jobFailureWords(told, 'zh')]).toEqual([en, zh])
})

test('each access that a job can lose has its words', () => {
  for (const loss of ['applicationNotFound', 'applicationFrozen', 'tokenInvalid', 'notPermitted'] as const) {
    const { failure, words } = accessLost(job, loss)
    expect(jobFailureWords({ ...job, failure, error: words }, 'en')).not.toContain('access is lost')
  }
})

test('of a job that failed before its reason was kept as data, the sentence is shown as it is', () => {
  const sentence = 'The import stopped at line 12.'
  expect(jobFailureWords({ ...job, failure: null, error: sentence }, 'zh')).toBe(sentence)
  const later = { ...rowsLost(3).failure, kind: 'ofALaterVersion' as never }
  expect(jobFailureWords({ ...job, failure: later, error: sentence }, 'zh')).toBe(sentence)
})

test('an event that holds the reason of a failure tells it in the reader’s language', () => {
  expect(sentencesOf('delivery.tested', undefined, { error: 'no answer in time' }, 'zh')).toMatchObject([
    { what: '错误', after: '超时未响应' },
  ])
  const stopped = { callbackStopReason: 'answered 410' }
  expect(sentencesOf('thirdPartyConfig.saved', undefined, stopped, 'zh')).toMatchObject([{ after: '返回 HTTP 410' }])
})

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultRateLimitPerSecond } from '../src/applications/contract.ts'
import { limitGroups, limits } from '../src/vocabulary/limits.ts'

// Writes the tables of limits: all of them in docs/limits.md, and in the guides those that callers can reach.

const root = join(import.meta.dirname, '..')
const number = (value: number) => value.toLocaleString('en-US')
const size = (bytes: number) => {
  const [unit, name] = (
    [
      [1024 ** 3, 'GB'],
      [1024 ** 2, 'MiB'],
      [1024, 'KiB'],
    ] as const
  ).find(([least]) => bytes >= least) ?? [1, 'B']
  return `${number(bytes / unit)} ${name}`
}

interface Documented {
  group: string
  name: string
  unit: string
  purpose: string
  beyond: string
  testedBy: string
}

const folder = 'src/vocabulary/limits'

/** Reads the description of each limit from its group's file. Throws for an incomplete one. */
function documentedLimits(): Documented[] {
  const comments = readdirSync(join(root, folder))
    .map((file) => readFileSync(join(root, folder, file), 'utf8'))
    .flatMap((source) => [...source.matchAll(/^ {2}\/\*\*([\s\S]+?)\*\/\n {2}(\w+):/gm)])
  const commentOf = new Map(comments.map(([, comment = '', name = '']) => [name, comment]))
  return Object.entries(limitGroups).flatMap(([group, limits]) =>
    Object.keys(limits).map((name) => {
      const words = (commentOf.get(name) ?? '').replace(/\s*\n\s*\*\s?/g, ' ').trim()
      const parts = /^(\w[^.]*)\. (.+?)\.?(?: Beyond it: (.+?)\.)? Tested by: (\S+)\.$/.exec(words)
      if (parts === null) throw new Error(`${folder} does not say all of ${name}: ${words}`)
      const [, unit = '', purpose = '', beyond = '', testedBy = ''] = parts
      return { group, name, unit: unit.toLowerCase(), purpose, beyond, testedBy }
    }),
  )
}

/** `docs/limits.md`, written by hand but for its tables. */
export function limitsPage(): string {
  const all = documentedLimits()
  const tables = [...new Set(all.map(({ group }) => group))].map((group) => {
    const found = all.filter((one) => one.group === group)
    const rows = found.map(
      ({ name, unit, purpose, beyond, testedBy }) =>
        `| \`${name}\` | ${number(limits[name as keyof typeof limits])} ${unit} | ${purpose} | ${beyond} | \`${testedBy}\` |\n`,
    )
    return `### ${group}\n\n| limit | value | what is limited, and why | beyond it | tested by |\n| --- | --: | --- | --- | --- |\n${rows.join('')}`
  })
  const page = readFileSync(join(root, 'docs/limits.md'), 'utf8')
  return page.slice(0, page.indexOf('\n### ') + 1) + tables.join('\n')
}

const link = (code: number) => `[${code}](errors.md#${code})`
const { bodyBytes, batchRows, batchBytes, fileBytes, filesAtOnceOfOne, jsonDepth, jsonMembers, jsonValues } = limits
/** The rows of the guides' table: what is limited, the limit, and what happens beyond it. */
const rows: Record<'en' | 'zh', [string, string, string][]> = {
  en: [
    [
      'requests',
      `\`rateLimitPerSecond\` of the application, ${number(defaultRateLimitPerSecond)} unless set otherwise; bursts of one second’s worth`,
      `429 ${link(10007)}`,
    ],
    ['requests under way', 'a fifth of `FORECOURT_MAX_REQUESTS` for one application or account', `429 ${link(10007)}`],
    ['bulk actions that wait', `${limits.actCountsWaitingOfOne} of one application`, `429 ${link(10007)}`],
    ['reads that wait', `${limits.readsWaitingOfOne} of one application`, `429 ${link(10007)}`],
    ['a body', size(bodyBytes), `413 ${link(10001)}`],
    ['a batch', `${number(batchRows)} rows, ${size(batchBytes)}`, '400 or 413'],
    [
      'a file',
      `${size(fileBytes)}; ${filesAtOnceOfOne} at once of an application or account; 64 KiB in 30 s after its first minute`,
      '413, 429, 408',
    ],
    [
      'files and results kept',
      `2 GiB of an application, ${number(limits.importRefusedRows)} refused rows of an import`,
      `429 ${link(10007)}; the import ends`,
    ],
    [
      'imports, bulk actions, replays, callback tests, rotations',
      `${number(limits.platformEventsOfOne)} of an application in 24 hours, ${number(limits.platformEventsOfAccount)} of an account; dry runs don’t count`,
      `429 ${link(10007)}`,
    ],
    [
      'price changes',
      `${number(limits.priceChangesADay)} of an application in 24 hours, with ${number(limits.priceChangeSitesADay)} sites in all; cancelled ones count`,
      `429 ${link(10007)}`,
    ],
    [
      'idempotency keys, and all of these',
      `${number(limits.usageRows)} rows in 24 hours, ${number(limits.usageBytes / 1024 ** 3)} GiB beside files and results`,
      `429 ${link(10007)}`,
    ],
    ['time for a body to arrive', '5 s', '408'],
    [
      'JSON',
      `${jsonDepth} levels, ${number(jsonMembers)} members of an object, ${number(jsonValues)} in all, no member twice`,
      '400',
    ],
    ['`pageSize`', `${limits.pageRows}`, '400'],
    ['`pageNo × pageSize`', `${number(limits.pageRowsNumbered)}; a cursor has no limit`, '400'],
    ['`total`', `exact to ${number(limits.pageRowsCounted)}`, '`totalIsExact` is false'],
    ['living tokens', `${number(limits.tokensOfOne)} of an application`, 'the oldest ends'],
    ['`Idempotency-Key`', '255 visible ASCII characters, kept 24 hours', '400'],
    [
      'a callback',
      `${limits.attemptMs / 1000} s, 10 attempts, ${size(limits.responseBytesKept)} of your answer are kept`,
      'dead',
    ],
    ['tests of a callback', `one in ${limits.testEveryMs / 1000} s`, '429'],
    ['a replay', `${number(limits.replayedAtOnce)} events`, '400'],
    ['events kept', '400 days; `device.stateChanged` 30 days', ''],
    ['deliveries kept', '30 days', ''],
    ['sessions of an account', `${limits.sessionsOfOne}`, 'the oldest ends'],
    [
      'refusals kept',
      `7 days, the newest ${number(limits.refusalsOfOne)} of an application, ${limits.refusalsAMinute} a minute`,
      '',
    ],
  ],
  zh: [
    [
      '请求频率',
      `应用的 \`rateLimitPerSecond\`，默认 ${number(defaultRateLimitPerSecond)}，允许一秒用量的突发`,
      `429 ${link(10007)}`,
    ],
    ['处理中的请求', '每个应用或账号最多占 `FORECOURT_MAX_REQUESTS` 的五分之一', `429 ${link(10007)}`],
    ['等待中的批量操作', `每个应用 ${limits.actCountsWaitingOfOne} 个`, `429 ${link(10007)}`],
    ['等待中的查询', `每个应用 ${limits.readsWaitingOfOne} 个`, `429 ${link(10007)}`],
    ['请求体', size(bodyBytes), `413 ${link(10001)}`],
    ['批量', `${number(batchRows)} 行，${size(batchBytes)}`, '400 或 413'],
    [
      '文件',
      `${size(fileBytes)}；每个应用或账号同时 ${filesAtOnceOfOne} 个；第一分钟之后每 30 秒至少 64 KiB`,
      '413、429、408',
    ],
    [
      '保留的文件和结果',
      `每个应用 2 GiB；单次导入 ${number(limits.importRefusedRows)} 行被拒绝`,
      `429 ${link(10007)}；导入终止`,
    ],
    [
      '导入、批量操作、重新投递、回调测试、密钥轮换',
      `24 小时内每个应用 ${number(limits.platformEventsOfOne)} 次，每个账号 ${number(limits.platformEventsOfAccount)} 次；试运行不计`,
      `429 ${link(10007)}`,
    ],
    [
      '价格变更',
      `24 小时内每个应用 ${number(limits.priceChangesADay)} 项，涉及站点合计 ${number(limits.priceChangeSitesADay)} 个；已取消的也计入`,
      `429 ${link(10007)}`,
    ],
    [
      '幂等键与以上各项合计',
      `24 小时内 ${number(limits.usageRows)} 行；除文件与结果外 ${number(limits.usageBytes / 1024 ** 3)} GiB`,
      `429 ${link(10007)}`,
    ],
    ['请求体的到达时间', '5 秒', '408'],
    [
      'JSON',
      `${jsonDepth} 层，单个对象 ${number(jsonMembers)} 个成员，总计 ${number(jsonValues)} 个，成员不得重复`,
      '400',
    ],
    ['`pageSize`', `${limits.pageRows}`, '400'],
    ['`pageNo × pageSize`', `${number(limits.pageRowsNumbered)}；游标没有上限`, '400'],
    ['`total`', `${number(limits.pageRowsCounted)} 以内精确`, '`totalIsExact` 为 false'],
    ['有效令牌', `每个应用 ${number(limits.tokensOfOne)} 个`, '最早的失效'],
    ['`Idempotency-Key`', '255 个可见 ASCII 字符，保存 24 小时', '400'],
    ['回调', `${limits.attemptMs / 1000} 秒，10 次，保留应答的前 ${size(limits.responseBytesKept)}`, '放弃'],
    ['回调测试', `每 ${limits.testEveryMs / 1000} 秒一次`, '429'],
    ['重新投递', `单次 ${number(limits.replayedAtOnce)} 个事件`, '400'],
    ['事件保留', '400 天；`device.stateChanged` 30 天', ''],
    ['投递记录保留', '30 天', ''],
    ['单个账号的会话', `${limits.sessionsOfOne} 个`, '最早的会话结束'],
    ['拒绝记录保留', `7 天，每个应用最新 ${number(limits.refusalsOfOne)} 条，每分钟 ${limits.refusalsAMinute} 条`, ''],
  ],
}

/** The guide of limits, written by hand but for its first table. */
export function limitsGuide(language: 'en' | 'zh'): string {
  const page = readFileSync(join(root, `docs/guides/${language}/limits.md`), 'utf8')
  const lines = rows[language].map((cells) => `| ${cells.join(' | ')} |\n`.replace('|  |', '| |'))
  return page.replace(/(\| --- \| --- \| --- \|\n)(?:\|[^\n]+\n)*/, `$1${lines.join('')}`)
}

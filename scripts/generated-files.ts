import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { routines } from '../src/app.ts'
import { Context } from '../src/cli/context.ts'
import { createProgram } from '../src/cli/program.ts'
import { settings } from '../src/config.ts'
import { api } from '../src/reference/api.ts'
import { openApiDocument } from '../src/reference/openapi.ts'
import { operations } from '../src/reference/operations.ts'
import type { Setting } from '../src/runtime/setting-values.ts'
import { eventWords } from '../src/vocabulary/event-types.ts'
import { refusals } from '../src/vocabulary/refusals.ts'
import { commandReference } from './command-reference.ts'
import { limitsGuide, limitsPage } from './limits-guide.ts'
import { plantedPage } from './planted-page.ts'
import { postmanCollection } from './postman.ts'
import { sdkApi } from './sdk-api.ts'

/** The files that are made from the source and checked in, by their paths. */
export function generatedFiles(): Record<string, string> {
  const document = openApiDocument(api)
  return {
    'sdk/src/api.ts': sdkApi(),
    'console/src/words/operation-words.ts': operationWords(),
    'migrations/routines.sql': routinesText(),
    'openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'test/openapi-size.json': sizeOf(document),
    'docs/command-line.md': commandReference(createProgram(new Context({ environment: {}, ...process }))),
    'postman.json': postmanCollection(),
    'docs/limits.md': limitsPage(),
    'docs/testing.md': plantedPage(),
    'docs/guides/en/limits.md': limitsGuide('en'),
    'docs/guides/zh/limits.md': limitsGuide('zh'),
    'docs/guides/en/events.md': withEventTypes('en'),
    'docs/guides/zh/events.md': withEventTypes('zh'),
    'docs/guides/en/errors.md': errorGuide('en'),
    'docs/guides/zh/errors.md': errorGuide('zh'),
    'docs/guides/en/settings.md': settingsGuide('en'),
    'docs/guides/zh/settings.md': settingsGuide('zh'),
  }
}

/** The words of the writes, apart from the contracts: the console needs no contract of an operation that it does not call. */
function operationWords(): string {
  const lines = operations.flatMap(({ id, words }) =>
    words === undefined ? [] : [`  ${id}: ${JSON.stringify(words)},`],
  )
  return `// Made from the contracts by \`npm run generate\`. Not to be edited.

import type { Words } from './words.ts'

/** Descriptions of the writes that can be refused, by the id of the operation. */
export const operationWords: Record<string, Words> = {
${lines.join('\n')}
}
`
}

/** The functions of the write path as the database gets them, so that a review sees the SQL that runs. */
function routinesText(): string {
  const head = `-- The functions of the write path, as a start makes them: put together from the routine.ts of each feature by
-- \`npm run generate\`. To be read; no migration. A name ends with a digest of its text.
`
  return [head, ...routines.map(({ definition }) => `${definition};\n`)].join('\n')
}

/** How large the document is on the wire, in whole kB, so that only a change that matters moves it and is seen. */
function sizeOf(document: object): string {
  const compressedKilobytes = Math.ceil(gzipSync(JSON.stringify(document)).byteLength / 1000)
  return `{ "compressedKilobytes": ${compressedKilobytes} }\n`
}

/** What stands around the table of the guide of errors. */
const errorTexts = {
  en: {
    head: `# Errors

A refusal is \`{"code":N,"msg":"…","data":null}\` with the HTTP status below. \`code\` is the contract: decide by it, and
never by \`msg\`, which is for people, in English, or in Chinese when \`Accept-Language\` prefers it.

**Look at the status or the code before you read \`data\`.** Code 10001 (and 40002 and 40003 where a field is at fault) has
\`{"errors":[{"field":"contactsPhone","reason":"…"}]}\` in the place of the record, with every faulty field at once.

- **Repeat as it is:** 10007, 49999, 50003, and a connection that broke. With the same \`Idempotency-Key\`, and after the
  seconds that \`Retry-After\` says: [Retries](retries.md).
- **Repeat with a new token:** 10002.
- **Anything else:** the request, or something that it names, has to change first.

Every answer has an \`X-Request-Id\`. Note it with each refusal: the operator finds the request by it. Your refused writes
of the last days, rows of batches too, with their faulty fields: \`GET /api/event/v1/refusal/page\`.
`,
    columns: ['code', 'status', 'what happened', 'what to do', 'msg'],
  },
  zh: {
    head: `# 错误码

请求被拒绝时，响应为 \`{"code":N,"msg":"…","data":null}\`，HTTP 状态码见下表。\`code\` 是约定，程序应据此判断，不要依赖
\`msg\`：它供人阅读，默认英文，\`Accept-Language\` 优先中文时为中文。

**先看状态码或 \`code\`，再读 \`data\`。** 10001（以及字段有误时的 40002、40003）的 \`data\` 不是记录，而是
\`{"errors":[{"field":"contactsPhone","reason":"…"}]}\`，一次列出全部出错字段。

- **原样重试：** 10007、49999、50003，以及连接中断。使用同一个 \`Idempotency-Key\`，并等待 \`Retry-After\` 所示的秒数，详见
  [重试与幂等](retries.md)。
- **换新令牌后重试：** 10002。
- **其他：** 必须先更正请求，或更正它所引用的对象。

每个响应都带有 \`X-Request-Id\`。请随每次拒绝一并记录，运营方可据此找到该请求。最近几天被拒绝的写请求（包括批量中的行）及其出错字段，可用
\`GET /api/event/v1/refusal/page\` 查询。
`,
    columns: ['错误码', '状态码', '含义', '处理办法', 'msg'],
  },
}

/** The guide of the codes; the first cell has the anchor of each. */
function errorGuide(language: 'en' | 'zh'): string {
  const { head, columns } = errorTexts[language]
  const rows = Object.entries(refusals)
    .sort(([, a], [, b]) => a.code - b.code)
    .map(([name, { code, status, when, whenZh, todo, [language]: msg }]) => {
      const happened = language === 'zh' ? whenZh : when
      return `<a id="${code}"></a>**${code}** ${name} | ${status} | ${happened} | ${todo[language]} | ${msg}`
    })
  return `${head}\n${table(columns, rows)}`
}

/** The guide of events, written by hand, with the table of types as it is now. */
function withEventTypes(language: 'en' | 'zh'): string {
  const path = `docs/guides/${language}/events.md`
  const rows = Object.entries(eventWords).map(([type, { happens }]) => `| \`${type}\` | ${happens[language]} |\n`)
  const head = /(\| (?:type|类型) \| [^\n]+\n\| --- \| --- \|\n)(?:\|[^\n]+\n)*/
  return readFileSync(join(import.meta.dirname, '..', path), 'utf8').replace(head, `$1${rows.join('')}`)
}

/** What stands around the table of settings. */
const settingTexts = {
  en: {
    head: `# Settings

All settings come from the environment of the service. One that cannot be used ends the start with one sentence. A setting
with a second name may stand in a file instead, which the second one names: secrets are then in no environment.

More about several workers, the database and its rights, secrets and proxies: \`docs/settings.md\` of the package.
`,
    columns: ['setting', 'default', 'meaning'],
    none: 'none',
    or: 'or',
  },
  zh: {
    head: `# 配置

所有配置都来自服务的环境变量。配置有误时启动失败，并用一句话说明原因。有第二个名称的配置可改为写在文件中，由第二个名称指定该文件，密钥就不会
出现在环境变量里。

多进程、数据库及其权限、密钥和代理的更多说明，见安装包内的 \`docs/zh/settings.md\`。
`,
    columns: ['配置', '默认值', '含义'],
    none: '无',
    or: '或',
  },
}

/** The guide that lists every setting, as `config.ts` reads it. */
function settingsGuide(language: 'en' | 'zh'): string {
  const { head, columns, none, or } = settingTexts[language]
  const rows = Object.values<Setting<unknown>>(settings).map(({ name, isSecret, fallback, meaning }) => {
    const names = isSecret ? `\`${name}\` ${or} \`${name}_FILE\`` : `\`${name}\``
    return `${names} | ${fallback === undefined ? none : `\`${fallback}\``} | ${meaning[language]}`
  })
  return `${head}\n${table(columns, rows)}`
}

/** A table of Markdown, from cells with bars between them. */
function table(columns: readonly string[], rows: readonly string[]): string {
  const lines = [columns.join(' | '), columns.map(() => '---').join(' | '), ...rows]
  return lines.map((line) => `| ${line} |\n`).join('')
}

/** Those that are not what the source makes of them. */
export function staleFiles(): string[] {
  const isStale = ([path, text]: [string, string]) => {
    const file = join(import.meta.dirname, '..', path)
    return !existsSync(file) || readFileSync(file, 'utf8') !== text
  }
  return Object.entries(generatedFiles())
    .filter(isStale)
    .map(([path]) => path)
}

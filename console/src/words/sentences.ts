import { happeningOf } from '../../../src/vocabulary/event-types.ts'
import { compare } from '../ui/form/compare.ts'
import { memberWords, wordOf } from './member-words.ts'
import { ownSidesOf } from './subject.ts'
import { listWord, valueWord } from './value-words.ts'
import { type Words, w } from './words.ts'

type Language = keyof Words

/** The name of a member in sentences, or its own name if it has none. Of a path, the last step counts. */
export const memberWord = (path: string, language: Language): string =>
  memberWords[path.split('.').at(-1) ?? path]?.[language] ?? path

/** Steps of a path that are left out, because the next member says enough. */
const silentSteps = new Set([
  'periods',
  'deviceNumber',
  'deviceBattery',
  'DeviceBatteryOutput',
  'rules',
  'set',
  'filter',
])

/** Members that are left out: they repeat another one, or are about how the record is stored. */
const silentMembers = new Set([
  ...['provinceCode', 'cityCode', 'districtCode', 'effectiveAt', 'createTime', 'updateTime', 'lastReportTime'],
  ...['seenTime', 'callbackSecret', 'startTime', 'bytes', 'bytesRead', 'finishTime', 'actor', 'before'],
  ...['confirmedUntil', 'ignoredColumns', 'failure'],
])

/** One difference, in the user's language. The old value is undefined if there is none to compare with. */
export interface Sentence {
  what: string
  before: string | undefined
  after: string
}

/** What acts did that no record shows, of the platform's types, which have no sentence of their own: secrets are in no record. */
const untold: Record<string, { what: Words; after: Words }> = {
  'operator.passwordChanged': {
    what: w('password', '密码'),
    after: w('changed by its owner; other sessions ended', '已由本人更换，其他会话已结束'),
  },
  'operator.reset': {
    what: w('password', '密码'),
    after: w('removed, all sessions ended; setup link created', '已清除，所有会话已结束，并生成设置链接'),
  },
  'application.secretRotated': { what: w('secret', '应用密钥'), after: w('replaced', '已更换') },
  'thirdPartyConfig.secretRotated': { what: w('callback secret', '回调密钥'), after: w('replaced', '已更换') },
}

const amounts = new Set(['electricityPrice', 'servicePrice', 'unitPrice', 'dailyCap'])
/** Whether a sum is only written in another way: 0.7200 and 0.72. */
const isSameMoney = (member: string, was: string | undefined, is: string | undefined) =>
  amounts.has(member) && was !== undefined && is !== undefined && was !== '' && is !== '' && Number(was) === Number(is)

/** A period's time of day, without seconds if they are zero. */
const shortTime = (time: string) => time.replace(/^(\d\d:\d\d):00$/, '$1')

interface Views {
  views?: { name: string; page: string }[]
}

/** The data of an event as sentences tell it: saved views as one text each, with the list that each is of. */
function readable(data: unknown, language: Language): unknown {
  const { views } = (data ?? {}) as Views
  if (!Array.isArray(views)) return data
  const texts = views.map(({ name, page }) =>
    language === 'zh' ? `${name}（${listWord(page, language)}）` : `${name} (${listWord(page, language)})`,
  )
  return { ...(data as object), views: texts }
}

/** The noun of a member: the filters and changes of a bulk act are those of its devices or sites. */
function nounOf(type: string, [first]: readonly string[], data: unknown): string {
  const [noun = ''] = type.split('.')
  if (noun !== 'act' || (first !== 'filter' && first !== 'set')) return noun
  return (data as { kind?: string }).kind === 'sites' ? 'site' : 'device'
}

/** Whether a value is nothing that a sentence could tell. */
const isNone = (text: string | undefined) => text === undefined || ['null', '', '[]'].includes(text)

/** The differences of two records as sentences; without an earlier record, the values of the record. */
function differencesOf(type: string, before: unknown, after: unknown, language: Language): Sentence[] {
  const differences = compare(readable(before, language) ?? {}, readable(after, language))
  return differences.flatMap(({ member: path, before: was, after: is, isChanged }) => {
    const steps = path.split(' ')
    const member = steps.at(-1) ?? ''
    const noun = nounOf(type, steps, after)
    // A filter has the code of a division alone, without its name.
    const isSilent =
      ['before', 'failure'].includes(steps[0] ?? '') || (silentMembers.has(member) && steps[0] !== 'filter')
    const isEmpty = isNone(is) && (before === undefined || isNone(was))
    if (!isChanged || isEmpty || isSilent || isSameMoney(member, was, is)) return []
    const spoken = steps.filter((step) => !silentSteps.has(step))
    const what = spoken.map((step) => wordOf(noun, step)?.[language] ?? shortTime(step)).join(' ')
    const shown = (text: string | undefined) => valueWord(noun, member, text, language)
    return [{ what, before: before === undefined ? undefined : shown(was), after: shown(is) }]
  })
}

/**
 * What an event did, in sentences: `00:00 electricity 0.3800 → 0.9999`. Without an earlier record, the values of the
 * record.
 */
export function sentencesOf(type: string, before: unknown, after: unknown, language: Language): Sentence[] {
  const act = untold[type]
  const first = act === undefined ? [] : [{ what: act.what[language], before: undefined, after: act.after[language] }]
  return [...first, ...differencesOf(type, before, after, language)]
}

/**
 * What to tell if no member differs: the sentence of an act that its record does not show. Undefined for a change of members,
 * and for an event of the platform.
 */
export function actOf(type: string, language: Language): string | undefined {
  const happening = /\.(updated|saved)$/.test(type) ? undefined : happeningOf(type)
  return happening && `${happening[language]}${language === 'zh' ? '。' : '.'}`
}

/** What an event changed, in one line, if its own data has the former values; else empty. */
export function changeInShort({ type, data }: { type: string; data: unknown }, language: Language): string {
  const own = ownSidesOf(data)
  if (own === undefined) return ''
  return differencesOf(type, own.before, own.after, language)
    .map(({ what, before, after }) => `${what} ${before} → ${after}`)
    .join(language === 'zh' ? '；' : '; ')
}

/** The names of members that have words. */
export const spokenMembers: ReadonlySet<string> = new Set([
  ...Object.keys(memberWords),
  ...silentMembers,
  ...silentSteps,
])

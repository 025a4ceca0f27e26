import type { FieldFault, Reason } from '../../vocabulary/refusals.ts'
import { common } from './common-passwords.ts'

/** Names that the event log gives to others than accounts and keys. */
const reservedNames = new Set(
  ['operator', 'operatorKey', 'application', 'platform', 'anyone', 'first start', 'demo', 'system', 'forecourt'].map(
    folded,
  ),
)

const reserved: Reason = { en: 'is a name that the service uses itself', zh: '为系统保留名称' }
const hasMark: Reason = { en: 'must not hold # or :', zh: '不能包含 # 或 :' }
const mixed: Reason = {
  en: 'must not mix letters that look alike, such as Latin and Cyrillic',
  zh: '不能混用外形相似的字母，例如拉丁字母与西里尔字母',
}
const tooCommon: Reason = {
  en: 'is too easy to guess: a common password, one common word, a sequence or a repetition',
  zh: '过于容易猜到：属于常见密码、单个常见单词、连续字符或重复内容',
}
const isName: Reason = { en: 'must be more than the name', zh: '不能只是账号名称' }
const isOld: Reason = { en: 'must differ from the one until now', zh: '不能与当前密码相同' }

/** As names and passwords are compared: without case, and without what only looks different. */
function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

/** What an account or a key may not be called: what could be taken for another, or for an id behind a name. */
export function nameFaults(name: string | null | undefined): FieldFault[] {
  if (!name) return []
  if (/[#:]/u.test(name)) return [{ field: 'name', reason: hasMark }]
  if (isOfSeveralScripts(name)) return [{ field: 'name', reason: mixed }]
  return reservedNames.has(folded(name)) ? [{ field: 'name', reason: reserved }] : []
}

/** Scripts whose letters look alike: a name has letters of one of them at most. */
const lookalikeScripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u]

function isOfSeveralScripts(name: string): boolean {
  return lookalikeScripts.filter((script) => script.test(name.normalize('NFKC'))).length > 1
}

/** What a password may not be, however long it is. `old` is what it takes the place of. */
export function passwordFaults(
  field: string,
  password: string | null | undefined,
  name: string | null | undefined,
  old?: string,
): FieldFault[] {
  if (!password) return []
  const reasons = [
    ...(isTooCommon(folded(password)) ? [tooCommon] : []),
    ...(name && isMadeOf(folded(password), folded(name)) ? [isName] : []),
    ...(password === old ? [isOld] : []),
  ]
  return reasons.slice(0, 1).map((reason) => ({ field, reason }))
}

/** Words of this service and its field: with a year or a few digits they are the first that somebody tries. */
const contextWords = ['forecourt', 'charging', 'charger', 'operator', 'admin', 'administrator', 'platform', 'station']
  .concat(['password', 'barrier', 'device', 'parking', 'entrance', 'console'])
  .sort((a, b) => b.length - a.length)

/** Whether hardly anything is left without the words of the service, digits and signs; so much must be more than them. */
function isOfContext(password: string): boolean {
  const letters = password.replace(/[^a-z]/g, (sign) => lookalikes[sign] ?? '')
  const plain = password.replace(/[^a-z]/g, '')
  return [letters, plain].some((text) => {
    const left = contextWords.reduce((rest, word) => rest.replaceAll(word, ''), text)
    return left.length < text.length && left.length < 5
  })
}

/** Whether letters and digits take turns in two sequences: a1b2c3d4. */
function isTwoSequences(password: string): boolean {
  const characters = [...password]
  const every = (from: number) => characters.filter((_, index) => index % 2 === from).join('')
  return characters.length >= 8 && isSequence(every(0)) && isSequence(every(1))
}

function isTooCommon(password: string): boolean {
  if (common().passwords.has(password) || new Set(password).size < 5) return true
  if (/^(.{1,8}?)\1+$/su.test(password)) return true
  if (isOfContext(password) || isTwoSequences(password)) return true
  const word = password.replace(/^[^a-z]+|[^a-z]+$/g, '').replace(/[^a-z]/g, (sign) => lookalikes[sign] ?? sign)
  return common().words.has(word) || isSequence(password)
}

/** Signs that are written for letters. */
const lookalikes: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
}

/** Whether most characters are the one before, or its neighbour. */
function isSequence(password: string): boolean {
  const codes = [...password].map((character) => character.codePointAt(0) ?? 0)
  const steps = codes.slice(1).map((code, index) => Math.abs(code - (codes[index] ?? 0)))
  // 9 is followed by 0.
  return steps.filter((step) => step <= 1 || step === 9).length >= steps.length * 0.75
}

/** Whether hardly anything stands there beside the name. */
function isMadeOf(password: string, name: string): boolean {
  const beside = name.length < 3 ? password : password.replaceAll(name, '')
  return [...beside].length < 6
}

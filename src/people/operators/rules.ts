import type { FieldFault, Reason } from '../../vocabulary/refusals.ts'
import { commonPasswords } from './common-passwords.ts'
import { type OperatorRecord, passwordLengths } from './contract.ts'

const changeable = ['name', 'role', 'status', 'appIds', 'isSetUp', 'isLinked', 'hasSecondFactor'] as const

/** An account for its event. `before` is read, not taken from the previous event: some changes write no event. */
export function changedAccount(before: OperatorRecord, after: OperatorRecord) {
  const changed = changeable.filter((member) => JSON.stringify(before[member]) !== JSON.stringify(after[member]))
  return { ...after, before: Object.fromEntries(changed.map((member) => [member, before[member]])) }
}

/** Names of actors in the event log that are neither accounts nor keys. */
const reservedNames = new Set(
  [
    'operator',
    'operatorKey',
    'application',
    'platform',
    'anyone',
    'first start',
    'command line',
    'demo',
    'system',
    'forecourt',
  ].map(folded),
)

const reserved: Reason = { en: 'is reserved by the service', zh: '为系统保留名称' }
const hasMark: Reason = { en: 'must not contain # or :', zh: '不能包含 # 或 :' }
const mixed: Reason = {
  en: 'must not mix letters that look alike, such as Latin and Cyrillic',
  zh: '不能混用外形相似的字母，例如拉丁字母与西里尔字母',
}
const tooCommon: Reason = {
  en: 'is too easy to guess: a common password, one common word, a sequence or a repetition',
  zh: '过于容易猜到：属于常见密码、单个常见单词、连续字符或重复内容',
}
/** After NFKC: a letter and its accent are one character, however they were typed. */
const shortestPassword = passwordLengths.min
const tooShort: Reason = {
  en: `must be ${passwordLengths.min} to ${passwordLengths.max} characters`,
  zh: `必须是 ${passwordLengths.min} 至 ${passwordLengths.max} 个字符`,
}
const isName: Reason = { en: 'must not be based on the account’s name', zh: '不能只是账号名称' }
const isOld: Reason = { en: 'must differ from the current password', zh: '不能与当前密码相同' }

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

/** A name must not look like another one, nor contain the signs of an actor (`operator:NAME#ID`). */
export function nameFaults(name: string | null | undefined): FieldFault[] {
  if (!name) return []
  if (/[#:]/u.test(name)) return [{ field: 'name', reason: hasMark }]
  if (isOfSeveralScripts(name)) return [{ field: 'name', reason: mixed }]
  return reservedNames.has(folded(name)) ? [{ field: 'name', reason: reserved }] : []
}

const lookalikeScripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u]

function isOfSeveralScripts(name: string): boolean {
  return lookalikeScripts.filter((script) => script.test(name.normalize('NFKC'))).length > 1
}

/** At most one fault; `old` is the password that this one replaces. */
export function passwordFaults(
  field: string,
  password: string | null | undefined,
  name: string | null | undefined,
  old?: string,
): FieldFault[] {
  if (!password) return []
  const reasons = [
    ...([...folded(password)].length < shortestPassword ? [tooShort] : []),
    ...(isTooCommon(folded(password)) ? [tooCommon] : []),
    ...(name && isMostlyName(folded(password), folded(name)) ? [isName] : []),
    ...(password.normalize('NFKC') === old?.normalize('NFKC') ? [isOld] : []),
  ]
  return reasons.slice(0, 1).map((reason) => ({ field, reason }))
}

/** With a year or a few digits, these are the first guesses of an attacker. */
const contextWords = ['forecourt', 'charging', 'charger', 'operator', 'admin', 'administrator', 'platform', 'station']
  .concat(['password', 'barrier', 'device', 'parking', 'entrance', 'console'])
  .sort((a, b) => b.length - a.length)

function isMostlyContextWords(password: string): boolean {
  const letters = password.replace(/[^a-z]/g, (sign) => lookalikes[sign] ?? '')
  const plain = password.replace(/[^a-z]/g, '')
  return [letters, plain].some((text) => {
    const left = contextWords.reduce((rest, word) => rest.replaceAll(word, ''), text)
    return left.length < text.length && left.length < 5
  })
}

/** Such as a1b2c3d4. */
function isTwoSequences(password: string): boolean {
  const characters = [...password]
  const every = (from: number) => characters.filter((_, index) => index % 2 === from).join('')
  return characters.length >= 8 && isSequence(every(0)) && isSequence(every(1))
}

function isTooCommon(password: string): boolean {
  if (commonPasswords().passwords.has(password) || new Set(password).size < 5) return true
  if (/^(.{1,8}?)\1+$/su.test(password)) return true
  if (isMostlyContextWords(password) || isTwoSequences(password)) return true
  const word = password.replace(/^[^a-z]+|[^a-z]+$/g, '').replace(/[^a-z]/g, (sign) => lookalikes[sign] ?? sign)
  return commonPasswords().words.has(word) || isSequence(password)
}

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

function isSequence(password: string): boolean {
  const codes = [...password].map((character) => character.codePointAt(0) ?? 0)
  const steps = codes.slice(1).map((code, index) => Math.abs(code - (codes[index] ?? 0)))
  // A step of 9 counts too: in a sequence of digits, 0 follows 9.
  return steps.filter((step) => step <= 1 || step === 9).length >= steps.length * 0.75
}

function isMostlyName(password: string, name: string): boolean {
  const beside = name.length < 3 ? password : password.replaceAll(name, '')
  return [...beside].length < 6
}

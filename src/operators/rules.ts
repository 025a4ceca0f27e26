import type { FieldFault, Reason } from '../refusals.ts'
import { common } from './common-passwords.ts'

/** Names that the event log gives to others than accounts and keys. */
const reservedNames = new Set(
  ['operator', 'operatorKey', 'application', 'platform', 'anyone', 'first start', 'demo', 'system', 'forecourt'].map(
    folded,
  ),
)

const reserved: Reason = { en: 'is a name that the service uses itself', zh: '为系统保留名称' }
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

/** What an account or a key may not be called. */
export function nameFaults(name: string | null | undefined): FieldFault[] {
  return name && reservedNames.has(folded(name)) ? [{ field: 'name', reason: reserved }] : []
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

function isTooCommon(password: string): boolean {
  if (common().passwords.has(password) || new Set(password).size < 5) return true
  if (/^(.{1,8}?)\1+$/su.test(password)) return true
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

import type { Operation } from '../vocabulary/operation.ts'
import { type RefusalName, refusals } from '../vocabulary/refusals.ts'
import type { Json } from './published-schema.ts'

export function refusalsOf(operation: Operation): Set<RefusalName> {
  return new Set([...commonRefusals(operation), ...operation.refusals])
}

function commonRefusals(operation: Operation): RefusalName[] {
  const common: RefusalName[] = ['invalidRequest', 'unavailable']
  if (operation.callers.length > 0) common.push('tokenInvalid', 'notPermitted', 'tooManyRequests')
  if (operation.callers.includes('application')) common.push('applicationFrozen')
  if (operation.callers.includes('operator') && operation.openWithoutFactor !== 'always') {
    common.push('secondFactorSetUpRequired')
  }
  if (operation.asksProof) common.push('confirmationRequired')
  if (operation.idempotent) common.push('idempotencyKeyReused')
  if (operation.conditional) common.push('preconditionFailed')
  return common
}

/** The list of invalid fields if each of these refusals names some; a list or null if some do; none if none does. */
export function dataOf(names: RefusalName[], faults: Json): Json {
  if (names.every((name) => name === 'invalidRequest')) return { data: faults }
  const isAboutSome = names.some((name) =>
    ['invalidRequest', 'billingRuleNotFound', 'billingRuleWrongType', 'priceChangeClash'].includes(name),
  )
  const description = 'The invalid fields, if the error is about fields.'
  return isAboutSome ? { data: { anyOf: [faults, { type: 'null' }], description } } : {}
}

export const refusalHeaders: Record<number, string[]> = {
  400: ['X-Request-Id'],
  429: ['Retry-After', 'RateLimit-Policy', 'RateLimit'],
  500: ['X-Request-Id'],
  503: ['Retry-After', 'X-Request-Id'],
}

export const toldOf = (name: RefusalName) => `${refusals[name].code} ${name}`

export const shortNames: Record<string, string> = {
  InvalidRequest: 'Invalid',
  NotPermittedOrApplicationFrozenOrSecondFactorSetUpRequired: 'Forbidden',
  NotPermittedOrApplicationFrozenOrSecondFactorSetUpRequiredOrConfirmationRequired: 'ForbiddenOrUnproven',
  NotPermittedOrSecondFactorSetUpRequired: 'ForbiddenToOperators',
  NotPermittedOrSecondFactorSetUpRequiredOrConfirmationRequired: 'ForbiddenToOperatorsOrUnproven',
  TooManyRequests: 'TooMany',
  IdempotencyKeyReused: 'KeyReused',
  Unavailable: 'Busy',
  InternalFault: 'Fault',
}

/** ApplicationNotFound and DeviceNotFound become ApplicationOrDeviceNotFound. */
export function nameOfAll(names: readonly string[]): string {
  const isAll = names.length > 1 && names.every((name) => name.endsWith('NotFound'))
  return names
    .map((name, index) => (isAll && index < names.length - 1 ? name.replace(/NotFound$/, '') : name))
    .join('Or')
}

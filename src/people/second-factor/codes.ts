import type { Context } from '../../context.ts'
import type { Sql, Statements } from '../../database/open.ts'
import type { Pending } from '../../database/pending.ts'
import { transaction } from '../../database/transaction.ts'
import { insertPlatformEvent } from '../../events/store.ts'
import type { SecretBox } from '../../secrets/box.ts'
import { sealedFor } from '../../secrets/store.ts'
import { Refusal, unavailable } from '../../vocabulary/refusals.ts'
import * as attempts from '../sign-in-attempts/store.ts'
import { hashRecoveryCode, readCode, stepOfCode } from './generator.ts'
import * as store from './store.ts'

export interface CodeHolder {
  operatorId: number
  name: string
  address: string
}

/**
 * Uses up a code, unless its request is over. Throws 10033, and 10007 after too many wrong codes of the account, from
 * any address.
 */
export async function useCode(
  { sql, secrets }: Pick<Context, 'sql' | 'secrets'>,
  holder: CodeHolder,
  typed: string,
  pending: Pending,
): Promise<void> {
  await counted(sql, holder, async () => {
    const read = readCode(typed)
    if (pending.isOver) throw unavailable()
    if (read?.kind === 'generator') return useGeneratorCode(sql, secrets, holder.operatorId, read.code)
    return read !== undefined && useRecoveryCode(sql, holder, read.code, pending)
  })
}

/** Counts an attempt before its code is checked; a right code takes the count back. Throws 10033 and 10007. */
export async function counted(sql: Sql, holder: CodeHolder, isRight: () => Promise<boolean>): Promise<void> {
  const { operatorId, name, address } = holder
  const attempt: attempts.Attempt = { name, operatorId, address, knownBrowser: null, tried: 'code' }
  await attempts.counted(sql, attempt, async () => {
    const right = await isRight().catch(async (error: unknown) => {
      await attempts.uncountAttempt(sql, attempt)
      throw error
    })
    if (!right) throw new Refusal('codeInvalid')
    await attempts.uncountAttempt(sql, attempt)
  })
}

async function useGeneratorCode(sql: Sql, secrets: SecretBox, operatorId: number, code: string): Promise<boolean> {
  const generator = await store.findGenerator(sql, operatorId)
  if (generator === undefined) return false
  const step = stepOfCode(secrets.openOnce(sealedFor(operatorId), generator.secret), code, generator.now)
  return step !== undefined && store.useStep(sql, operatorId, generator.secret, step)
}

function useRecoveryCode(
  sql: Sql,
  { operatorId, name, address }: CodeHolder,
  code: string,
  pending: Pending,
): Promise<boolean> {
  const use = async (tx: Statements) => {
    const left = await store.useRecoveryCode(tx, operatorId, hashRecoveryCode(operatorId, code))
    if (left === undefined) return false
    const actor = `operator:${name}#${operatorId}`
    const data = { operatorId, name, recoveryCodesLeft: left }
    await insertPlatformEvent(tx, {
      type: 'secondFactor.recoveryCodeUsed',
      actor,
      subject: operatorId,
      address,
      data,
    })
    return true
  }
  return transaction(sql, use, '', pending)
}

import type { OperatorCaller } from '../../callers/caller.ts'
import { hashSecret } from '../../callers/credentials.ts'
import type { Context } from '../../context.ts'
import { invalidField, Refusal } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import { useCode } from '../second-factor/codes.ts'
import { usePasskey } from '../second-factor/passkeys.ts'
import * as attempts from '../sign-in-attempts/store.ts'
import { checkPassword, type Source } from './sign-in.ts'
import * as store from './store.ts'

export interface Credentials {
  name?: string | null
  password?: string | null
  code?: string | null
  operatorKey?: string | null
  ticket?: string | null
  credential?: object | null | ''
}

interface Proving {
  caller: OperatorCaller
  sessionId: number
}

/** Throws 10032, 10033 and 10007. */
export async function requireCode(
  context: Context,
  { id, name }: Pick<store.Account, 'id' | 'name'>,
  code: string | null,
  source: Source,
): Promise<void> {
  if (code === null) throw new Refusal('secondFactorRequired')
  await useCode(context, { operatorId: id, name, address: source.sourceAddress() }, code, source.pending)
}

export const isPasskeyGiven = ({ ticket, credential }: Credentials): boolean =>
  given(ticket) !== null || given(credential) !== null

/** With `ofOperator`, a passkey of another account is a wrong one. Throws 10001, 10007 and 10031. */
export async function requirePasskey(
  context: Context,
  body: Credentials,
  source: Source,
  ofOperator: number | null = null,
) {
  const [ticket, credential] = [given(body.ticket), given(body.credential)]
  if (ticket === null) throw missing('ticket')
  if (credential === null) throw missing('credential')
  const address = source.sourceAddress()
  return attempts.judged(context.sql, attempts.attemptFrom(address), () =>
    usePasskey(context, { ticket, credential, ofOperator }, source),
  )
}

/** `isProof`: enough to confirm the person's identity. */
export interface Shown {
  factor: 'code' | 'passkey' | null
  isProof: boolean
}

/** An identity confirmation (contract §12.4), or the missing factor. Throws 10001, 10007, 10031, 10032, 10033. */
export async function requireProof(
  context: Context,
  { caller, sessionId }: Proving,
  body: Credentials,
  source: Source,
): Promise<Shown> {
  const { operatorId } = caller
  if (operatorId === null) return requireKey(context, sessionId, given(body.operatorKey), source)
  if (isPasskeyGiven(body)) {
    await requirePasskey(context, body, source, operatorId)
    return { factor: 'passkey', isProof: true }
  }
  const [password, code] = [given(body.password), given(body.code)]
  const account = await store.requireAccount(context.sql, operatorId)
  // A code alone is the factor that the session lacks, or completes a proof that the provider began.
  if (code !== null && password === null) {
    const isProof = await store.hasProviderProof(context.sql, sessionId)
    if (caller.lacks === 'show' || isProof) {
      await requireCode(context, account, code, source)
      return { factor: 'code', isProof }
    }
  }
  if (password === null) throw missing('password')
  await checkPassword(context, { name: account.name, password }, source, (found) =>
    found.hasFactor ? requireCode(context, found, code, source) : Promise.resolve(),
  )
  return { factor: account.hasFactor ? 'code' : null, isProof: true }
}

async function requireKey(
  { sql }: Context,
  sessionId: number,
  operatorKey: string | null,
  source: Source,
): Promise<Shown> {
  if (operatorKey === null) throw missing('operatorKey')
  await attempts.judged(sql, attempts.attemptFrom(source.sourceAddress()), async () => {
    if (!(await store.isSessionOfKey(sql, sessionId, hashSecret(operatorKey)))) throw new Refusal('signInFailed')
  })
  return { factor: null, isProof: true }
}

const missing = (field: string) => invalidField(field, 'is required', '必填')

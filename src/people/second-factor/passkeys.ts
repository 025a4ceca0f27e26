import { isIP } from 'node:net'
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import type { Context } from '../../context.ts'
import type { Statements } from '../../database/open.ts'
import { transaction } from '../../database/transaction.ts'
import { insertPlatformEvent } from '../../events/store.ts'
import type { OperationRequest } from '../../http/handler.ts'
import { limits } from '../../vocabulary/limits.ts'
import { invalidField, Refusal } from '../../vocabulary/refusals.ts'
import { useOnce } from '../tickets/store.ts'
import { openTicket, sealTicket } from '../tickets/tickets.ts'
import * as store from './store.ts'

/** EdDSA, ES256 and RS256: what browsers have, even if the runtime knows more. */
const algorithms = [-8, -7, -257]

interface RelyingParty {
  id: string
  origin: string
}

/** Undefined if the service's address has no host name, which passkeys need. */
export function relyingPartyOf(publicUrl: string | undefined): RelyingParty | undefined {
  if (publicUrl === undefined) return undefined
  const { hostname, origin } = new URL(publicUrl)
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? { id: hostname, origin } : undefined
}

function requireParty({ config }: Context): RelyingParty {
  const party = relyingPartyOf(config.publicUrl)
  if (party !== undefined) return party
  throw invalidField(
    'FORECOURT_PUBLIC_URL',
    'must be an https URL with a host name, not an IP address, to use passkeys',
    '使用通行密钥时必须为 https 且带域名（不能是 IP 地址）的服务地址',
  )
}

export interface Begun {
  options: Record<string, unknown>
  ticket: string
}

interface Challenge {
  challenge: string
  /** Null for a sign-in, which anyone can start. */
  operatorId: number | null
}

function begun({ secrets }: Context, options: { challenge: string }, operatorId: number | null): Begun {
  const content: Challenge = { challenge: options.challenge, operatorId }
  return { options: { ...options }, ticket: sealTicket(secrets, purposeOf(operatorId), content, limits.ticketSeconds) }
}

const purposeOf = (operatorId: number | null) => (operatorId === null ? 'passkey' : `passkey of ${operatorId}`)

/** Throws 10001 if the service's address allows no passkeys, or the account has too many. */
export async function beginPasskey(
  context: Context,
  { operatorId, name }: { operatorId: number; name: string },
): Promise<Begun> {
  const party = requireParty(context)
  const known = await store.passkeysOf(context.sql, operatorId)
  requireRoom(known.length)
  const options = await generateRegistrationOptions({
    rpName: 'Forecourt',
    rpID: party.id,
    userName: name,
    userDisplayName: name,
    userID: new TextEncoder().encode(String(operatorId)),
    attestationType: 'none',
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
    excludeCredentials: known.map((id) => ({ id })),
    timeout: limits.ticketSeconds * 1000,
  })
  return begun(context, options, operatorId)
}

export function requireRoom(passkeys: number): void {
  if (passkeys < limits.passkeysOfOne) return
  const en = `is limited to ${limits.passkeysOfOne}; remove one first`
  throw invalidField('passkeys', en, `最多 ${limits.passkeysOfOne} 个：请先删除一个`)
}

/** Uses the ticket up. Throws 10001 and 10033. */
export async function checkNewPasskey(
  context: Context,
  operatorId: number,
  { ticket: text, credential }: { ticket: string; credential: object },
): Promise<store.NewPasskey> {
  const party = requireParty(context)
  const ticket = openTicket<Challenge>(context.secrets, purposeOf(operatorId), text)
  if (ticket === undefined || isFramed(credential)) throw new Refusal('codeInvalid')
  // The library throws for anything invalid.
  const { registrationInfo } = await verifyRegistrationResponse({
    response: credential as RegistrationResponseJSON,
    expectedChallenge: ticket.content.challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
  }).catch(() => ({ registrationInfo: undefined }))
  if (registrationInfo === undefined || !(await useOnce(context.sql, ticket))) throw new Refusal('codeInvalid')
  const { id, publicKey, counter } = registrationInfo.credential
  return {
    credentialId: id,
    publicKey: Buffer.from(publicKey).toString('base64url'),
    signCount: counter,
    isSynced: registrationInfo.credentialBackedUp,
  }
}

/** For anyone. Throws 10001 if the service's address allows no passkeys. */
export async function beginPasskeySignIn(context: Context): Promise<Begun> {
  const party = requireParty(context)
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    userVerification: 'required',
    timeout: limits.ticketSeconds * 1000,
  })
  return begun(context, options, null)
}

/** Throws 10001, and 10031 for anything that is wrong with the passkey; nothing is stored then. */
export async function usePasskey(
  context: Context,
  { ticket: text, credential, ofOperator = null }: { ticket: string; credential: object; ofOperator?: number | null },
  { sourceAddress, pending }: Pick<OperationRequest, 'sourceAddress' | 'pending'>,
): Promise<{ operatorId: number; passkeyId: number }> {
  const party = requireParty(context)
  const ticket = openTicket<Challenge>(context.secrets, purposeOf(null), text)
  const response = credential as AuthenticationResponseJSON
  const passkey =
    ticket === undefined || typeof response.id !== 'string'
      ? undefined
      : await store.findPasskey(context.sql, response.id)
  if (ticket === undefined || passkey === undefined || isFramed(credential)) throw new Refusal('signInFailed')
  if (ofOperator !== null && passkey.operatorId !== ofOperator) throw new Refusal('signInFailed')
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: ticket.content.challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    // 0: the counter is compared where it is stored, so that concurrent requests are compared one by one.
    credential: { id: passkey.credentialId, publicKey: Buffer.from(passkey.publicKey, 'base64url'), counter: 0 },
  }).catch(() => undefined)
  const handle = response.response?.userHandle
  const isOwners = handle === undefined || handle === null || isHandleOf(handle, passkey.operatorId)
  if (verified?.verified !== true || !isOwners) throw new Refusal('signInFailed')
  const { newCounter, credentialBackedUp } = verified.authenticationInfo
  const count = async (tx: Statements) => {
    // Only a right passkey uses up the ticket, so strangers leave no row.
    if (!(await useOnce(tx, ticket))) return false
    if (await store.countUse(tx, passkey.id, newCounter, credentialBackedUp)) return true
    await tellSuspected(tx, passkey, newCounter, sourceAddress())
    return false
  }
  const isCounted = await transaction(context.sql, count, '', pending)
  if (!isCounted) throw new Refusal('signInFailed')
  return { operatorId: passkey.operatorId, passkeyId: passkey.id }
}

/** Whether a page of another site framed the request: the service's pages are never framed. */
function isFramed(credential: object): boolean {
  const { clientDataJSON } = (credential as { response?: { clientDataJSON?: unknown } }).response ?? {}
  try {
    const data = JSON.parse(Buffer.from(String(clientDataJSON), 'base64url').toString())
    return (data.crossOrigin ?? false) !== false || (data.topOrigin ?? null) !== null
  } catch {
    return true
  }
}

const isHandleOf = (handle: string, operatorId: number) =>
  Buffer.from(handle, 'base64url').toString() === String(operatorId)

/** A counter that goes back means that there is a copy of the passkey. */
async function tellSuspected(tx: Statements, passkey: store.KnownPasskey, counter: number, address: string) {
  const { id: passkeyId, name: passkeyName, operatorId, operatorName } = passkey
  const data = { operatorId, name: operatorName, factor: 'passkey', passkeyId, passkeyName, counter }
  await insertPlatformEvent(tx, {
    type: 'secondFactor.suspected',
    actor: 'anyone',
    subject: operatorId,
    address,
    data,
  })
}

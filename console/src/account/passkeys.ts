import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import { startPasskey } from '../../../src/people/second-factor/contract.ts'
import { startPasskeySession } from '../../../src/people/sessions/contract.ts'
import { call } from '../api/api.ts'

// Passkeys in the browser. The library is loaded when the first one is wanted.

const library = () => import('@simplewebauthn/browser')

/** Whether this browser knows passkeys at this address: only https has them, and localhost. */
export const knowsPasskeys = (): boolean => typeof globalThis.PublicKeyCredential === 'function'

export interface Shown {
  ticket: string
  credential: object
}

/** Asks the person for a passkey. Throws the browser's error, whose name tells `ProofFault` what happened. */
export async function showPasskey(): Promise<Shown> {
  const [{ startAuthentication }, { options, ticket }] = await Promise.all([library(), begun()])
  return { ticket, credential: await startAuthentication({ optionsJSON: options }) }
}

/**
 * Waits until the person chooses a passkey from the browser's autofill, or the signal ends the wait. Returns undefined
 * if the browser has no such autofill, or if no passkey was chosen.
 */
export async function waitForPasskey(signal: AbortSignal): Promise<Shown | undefined> {
  const { browserSupportsWebAuthnAutofill, startAuthentication, WebAuthnAbortService } = await library()
  if (!(await browserSupportsWebAuthnAutofill())) return undefined
  const { options, ticket } = await begun()
  if (signal.aborted) return undefined
  signal.addEventListener('abort', () => WebAuthnAbortService.cancelCeremony())
  // If the wait ends without a passkey, nothing is reported: the person still sees the fields.
  const credential = await startAuthentication({ optionsJSON: options, useBrowserAutofill: true }).catch(
    () => undefined,
  )
  return credential && { ticket, credential }
}

/** Makes a passkey for the account of the session. Throws the browser's error. */
export async function makePasskey(): Promise<Shown> {
  const [{ startRegistration }, { data }] = await Promise.all([library(), call(startPasskey, {})])
  const optionsJSON = data.options as PublicKeyCredentialCreationOptionsJSON
  return { ticket: data.ticket, credential: await startRegistration({ optionsJSON }) }
}

async function begun(): Promise<{ options: PublicKeyCredentialRequestOptionsJSON; ticket: string }> {
  const { options, ticket } = (await call(startPasskeySession, {})).data
  return { options: options as PublicKeyCredentialRequestOptionsJSON, ticket }
}

import { pathOfConsole, startSignOn } from '../../../src/people/sign-on/contract.ts'
import { call } from '../api/api.ts'
import { paths } from '../paths.ts'

type Start = { purpose: 'signIn' | 'setUp' | 'link' | 'confirm'; setUpToken?: string; returnTo?: string }

/**
 * The provider's address at which a sign-on begins. The sign-on ends at `returnTo`, or at the overview if that path is
 * not allowed.
 */
export async function addressOfSignOn({ returnTo = '', ...start }: Start): Promise<string> {
  const path = encoded(returnTo)
  const fits = new RegExp(pathOfConsole).test(path)
  const { data } = await call(startSignOn, { ...start, returnTo: fits ? path : paths.overview() })
  return data.authorizationUrl
}

/** A page's address, with those signs of its filters encoded that a path to return to may not hold. */
function encoded(address: string): string {
  const [path = ''] = /^[^?#]*/.exec(address) ?? []
  const hex = (text: string) => text.replace(/[./\\]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  return (
    path +
    address
      .slice(path.length)
      .replace(/\.{2,}|\/{2,}|\\+/g, hex)
      .replace(/[^\x21-\x7e]/gu, encodeURIComponent)
  )
}

/** The broadcast channel over which a window tells the others that the person has confirmed who they are, or signed in again. */
const channelName = 'forecourt.confirmed'
/** The page on which a confirmation by sign-on ends. */
export const confirmedPath = `${paths.account()}?confirmed=1`

/** Tells the window that waits for a sign-on, and closes this one if it was opened for it. */
export function tellConfirmed(): void {
  const channel = new BroadcastChannel(channelName)
  channel.postMessage(true)
  channel.close()
  window.close()
}

/**
 * Lets a person confirm or sign in at the provider in a window of its own, so that nothing that was entered here is
 * lost. Calls `onEnd` when they have. If the browser opens no window, this window goes to the provider. Returns a function that
 * stops waiting.
 */
export function signOnInWindow(
  purpose: 'confirm' | 'signIn',
  onEnd: () => void,
): { begun: Promise<void>; stop: () => void } {
  // The window is opened before anything is awaited: a browser allows it only as the result of a click.
  const opened = window.open('', '_blank', 'popup,width=520,height=720')
  const channel = new BroadcastChannel(channelName)
  channel.onmessage = onEnd
  const go = async () => {
    try {
      const address = await addressOfSignOn({ purpose, returnTo: confirmedPath })
      ;(opened ?? window).location.assign(address)
    } catch (error) {
      opened?.close()
      throw error
    }
  }
  return { begun: go(), stop: () => channel.close() }
}

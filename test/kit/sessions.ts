import type { Client } from './client.ts'
import { newPerson, type Person, signIn } from './people.ts'

/** Creates an account with a password and a session; `headers` identify the session. */
export async function newSignedIn(
  client: Client,
  role: string,
  appIds?: string[],
): Promise<Person & { headers: { cookie: string } }> {
  const person = await newPerson(client, role, appIds)
  return { ...person, headers: await signIn(client, person) }
}

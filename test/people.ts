import { randomBytes } from 'node:crypto'
import { createOperator } from '../src/people/operators/contract.ts'
import { createSession } from '../src/people/sessions/contract.ts'
import type { Answer, Client } from './harness.ts'

export interface Person {
  id: number
  name: string
  password: string
}

export const newPassword = () => randomBytes(12).toString('hex')

/** Creates an account for one test, with a password. */
export async function newPerson(client: Client, role: string, appIds: string[] = []): Promise<Person> {
  const person = { name: `${role}-${randomBytes(6).toString('hex')}`, password: newPassword() }
  const created = await client.operate(createOperator, { ...person, role, appIds })
  if (created.code !== 0) throw new Error(`no account: ${created.text}`)
  return { ...person, id: created.data.id }
}

/** The session's cookie from a response, as a browser sends it back. */
export function cookieOf(answer: Answer<unknown>): string {
  const [pair = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
  return pair
}

/** Signs a person in; returns the headers that identify the session. */
export async function signIn(client: Client, { name, password }: Person): Promise<{ cookie: string }> {
  const answer = await client.call(createSession, { name, password })
  if (answer.code !== 0) throw new Error(`not signed in: ${answer.text}`)
  return { cookie: cookieOf(answer) }
}

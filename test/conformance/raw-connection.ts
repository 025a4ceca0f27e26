import type { Answer } from '../kit/client.ts'
import { RawConnection } from '../kit/raw-connection.ts'
import { client } from './support.ts'

/** The head of a POST. */
export function headOf(path: string, headers: Record<string, string>): string {
  const lines = Object.entries({ host: new URL(client.url).host, ...headers })
  return `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

/** A connection on which a test writes a request's bytes itself. */
export async function openRaw(): Promise<RawConnection> {
  const connection = await RawConnection.open(client.url)
  if (connection === undefined) throw new Error('the connection was refused')
  return connection
}

/** The next response on a connection. */
export async function answerOn(connection: RawConnection): Promise<Answer<unknown>> {
  const { status, head, body } = await connection.answer()
  const lines = head.split('\r\n').slice(1)
  const headers = lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])
  const text = Buffer.from(body, 'latin1').toString()
  return { status, headers: new Headers(headers as [string, string][]), text, ...JSON.parse(text) }
}

/** Sends bytes on a connection of their own, and returns the response. */
export async function sendRaw(bytes: string): Promise<Answer<unknown>> {
  const connection = await openRaw()
  connection.send(bytes)
  return answerOn(connection).finally(() => connection.close())
}

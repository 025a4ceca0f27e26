import { createDevice } from '../../src/devices/contract.ts'
import { RawConnection, rawPost } from '../kit/raw-connection.ts'
import { deviceBody, type TestApplication } from '../kit/records.ts'
import { atScale } from '../kit/scale.ts'
import type { Service } from '../kit/service.ts'
import { sleep } from '../kit/waits.ts'

/** The responses and connections that clients had while the service stopped. */
export interface Seen {
  /** Serials of the creates that got the response 200. */
  created: string[]
  /** The number of connections whose last response contained `connection: close`. */
  toldToClose: number
  /** The number of connections that were refused. */
  refused: number
  /**
   * Serials sent on new connections that were reset: the operating system had accepted the connection, but not the
   * service.
   */
  neverTaken: string[]
  /** Requests that the service received and did not respond to, and responses other than 200. */
  dropped: string[]
}

type ClientKind = (service: Service, app: TestApplication, seen: Seen) => Promise<void>

/** Sends a create in parts with a pause between them. Returns whether the connection can be used again. */
async function createRaw(
  connection: RawConnection,
  app: TestApplication,
  seen: Seen,
  options: { headers?: string[]; pauseMs?: number; kind: string },
): Promise<boolean> {
  const body = deviceBody(app.appId, { deviceName: '道闸' })
  const [head, text] = rawPost(createDevice.path, app.token, body, options.headers)
  const half = Math.floor(text.length / 2)
  connection.send(head + (options.pauseMs === undefined ? text : text.slice(0, half)))
  if (options.pauseMs !== undefined) {
    // The service may be told to stop while it waits for the rest.
    await sleep(options.pauseMs)
    connection.send(text.slice(half))
  }
  try {
    const answer = await connection.answer()
    if (answer.status === 200) seen.created.push(body.deviceNo)
    else seen.dropped.push(`${options.kind}: ${answer.status} ${answer.body}`)
    if (answer.closes) seen.toldToClose++
    return !answer.closes
  } catch (error) {
    if (connection.answers === 0 && connection.characters === 0) seen.neverTaken.push(body.deviceNo)
    else seen.dropped.push(`${options.kind}: ${(error as Error).message}`)
    return false
  }
}

/** Uses one connection until the service asks to close it, then opens others until one is refused. */
function keepAlive(options: { pauseMs?: number; kind: string }): ClientKind {
  return async (service, app, seen) => {
    for (;;) {
      const connection = await RawConnection.open(service.url)
      if (connection === undefined) {
        seen.refused++
        return
      }
      while (await createRaw(connection, app, seen, options));
      connection.close()
    }
  }
}

const newConnectionEach: ClientKind = async (service, app, seen) => {
  for (;;) {
    const connection = await RawConnection.open(service.url)
    if (connection === undefined) {
      seen.refused++
      return
    }
    await createRaw(connection, app, seen, { kind: 'a new connection', headers: ['Connection: close'] })
    connection.close()
  }
}

const clients: { kind: ClientKind; count: number }[] = [
  { kind: keepAlive({ kind: 'a busy connection' }), count: atScale(6, 16) },
  { kind: keepAlive({ kind: 'a slow body', pauseMs: 300 }), count: atScale(3, 6) },
  { kind: newConnectionEach, count: 4 },
]

/** Starts clients of all kinds; each continues until it is refused. */
export function beginClients(service: Service, app: TestApplication): { seen: Seen; all: Promise<void>[] } {
  const seen: Seen = { created: [], toldToClose: 0, refused: 0, neverTaken: [], dropped: [] }
  const all = clients.flatMap(({ kind, count }) => Array.from({ length: count }, () => kind(service, app, seen)))
  return { seen, all }
}

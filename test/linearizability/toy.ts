import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { randomNumbers, sleep } from '../faults/support.ts'

/** The faults that a toy service can have; one shows now and then. */
export const toyFaults = ['two owners', 'stale read', 'lost create', 'effect twice', 'owner forgotten'] as const
export type ToyFault = (typeof toyFaults)[number]

interface Row {
  appId: string
  tag: string
}

/** The probability that a possible fault happens, and that a connection is cut before or after the effect. */
const faultShare = 0.1
const cutShare = 0.05

/**
 * A small service with only the four operations on serial numbers, in memory. With it, tests show that the recorder and
 * the checker together find each fault, and find none in a correct service. A token is the application's id.
 */
export class Toy {
  private readonly rows = new Map<string, Row>()
  private readonly before = new Map<string, Row | undefined>()
  private readonly kept = new Map<string, Row>()
  private readonly random: () => number
  private readonly fault: ToyFault | undefined
  private readonly server = createServer((request, response) => this.serve(request, response))

  constructor(fault: ToyFault | undefined, seed: number) {
    this.fault = fault
    this.random = randomNumbers(seed)
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.server.address() as { port: number }).port}`
  }

  stop(): void {
    this.server.closeAllConnections()
    this.server.close()
  }

  private errs(fault: ToyFault): boolean {
    return this.fault === fault && this.random() < faultShare
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://toy')
    const body = pieces.length > 0 ? JSON.parse(Buffer.concat(pieces).toString()) : {}
    const caller = String(request.headers.authorization).slice('Bearer '.length)
    const key = request.headers['idempotency-key'] as string | undefined
    if (this.random() < cutShare) return void response.destroy()
    await sleep(this.random() * 4)
    const act = pathname.slice(pathname.lastIndexOf('/') + 1)
    const deviceNo = body.deviceNo ?? searchParams.get('deviceNo')
    const { code, row, isReplayed } = this.answer(act, deviceNo, caller, body, key)
    await sleep(this.random() * 4)
    if (this.random() < cutShare) return void response.destroy()
    if (isReplayed) response.setHeader('idempotency-replayed', 'true')
    response.end(JSON.stringify({ code, data: row ?? null }))
  }

  private answer(
    act: string,
    serial: string,
    caller: string,
    body: Record<string, string>,
    key?: string,
  ): { code: number; row?: Row; isReplayed?: boolean } {
    const first = key === undefined ? undefined : this.kept.get(key)
    if (first !== undefined && !this.errs('effect twice')) return { code: 0, row: first, isReplayed: true }
    if (act === 'detail') return this.read(serial, caller)
    const held = this.rows.get(serial)
    const { code, row, left } = this.change(act, held, caller, body)
    if (code !== 0 || row === undefined) return { code }
    this.before.set(serial, held)
    if (left === undefined) this.rows.delete(serial)
    else if (!(act === 'create' && this.errs('lost create'))) this.rows.set(serial, left)
    if (key !== undefined) this.kept.set(key, row)
    return { code, row }
  }

  private read(serial: string, caller: string): { code: number; row?: Row } {
    const row = this.errs('stale read') ? this.before.get(serial) : this.rows.get(serial)
    return row !== undefined && (caller === 'operator' || caller === row.appId) ? { code: 0, row } : { code: 20002 }
  }

  /** The response, and the owner after the change. */
  private change(
    act: string,
    held: Row | undefined,
    caller: string,
    body: Record<string, string>,
  ): { code: number; row?: Row; left?: Row | undefined } {
    if (act === 'create') {
      const row = { appId: caller, tag: String(body.tag) }
      if (held === undefined || (held.appId !== caller && this.errs('two owners'))) return { code: 0, row, left: row }
      return { code: held.appId === caller ? 20017 : 20013 }
    }
    if (held === undefined) return { code: 20002 }
    if (act === 'transfer') {
      const row = { appId: String(body.targetAppId), tag: held.tag }
      if (held.appId === row.appId) return { code: 20017 }
      return { code: 0, row, left: this.errs('owner forgotten') ? held : row }
    }
    return held.appId === caller ? { code: 0, row: held, left: undefined } : { code: 20002 }
  }
}

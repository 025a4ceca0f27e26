import type postgres from 'postgres'
import { type Answer, Client } from '../kit/client.ts'
import { deviceBody, newSerial, siteBody, type TestApplication } from '../kit/records.ts'
import { becomesTrue, sleep } from '../kit/waits.ts'

/** One create, from its first attempt to its final response. */
export interface Create {
  kind: 'device' | 'site'
  /** The device's serial number or the site's name, which no other record has. */
  name: string
  key: string
  body: object
  /** The number of attempts without an outcome: the connection was lost, or the response was 503. */
  unknown: number
  /** The record in the response 200, as JSON text. */
  record: string | undefined
}

const success = '{"code":0,"msg":"success","data":'
const writersOf = { device: 12, site: 6 }
const retryAfterMs = 20

/**
 * Keeps creating devices and sites, each with a separate idempotency key. As callers should, it repeats every request
 * without an outcome with the same key. While the writers are paused, requests without a response wait.
 */
export class Writers {
  /** Creates that got the response 200, in the order of the responses. */
  readonly settled: Create[] = []
  /** Creates that were sent and have not got the response 200 yet. */
  readonly pending = new Set<Create>()
  /** Responses that are always wrong. */
  readonly wrong: string[] = []
  private readonly app: TestApplication
  private client: Client
  private shut: Promise<void> | undefined
  private reopen = () => {}
  private running = true
  private abandoned = false
  private readonly all: Promise<unknown>

  constructor(app: TestApplication, service: { url: string; operatorKey: string }) {
    this.app = app
    this.client = new Client(service)
    const kinds = (['device', 'site'] as const).flatMap((kind) => Array<'device' | 'site'>(writersOf[kind]).fill(kind))
    this.all = Promise.all(kinds.map((kind) => this.write(kind)))
  }

  close(): void {
    this.shut ??= new Promise((open) => {
      this.reopen = open
    })
  }

  /** Continues, with a service that may have another address. */
  open(service: { url: string; operatorKey: string }): void {
    this.client = new Client(service)
    this.shut = undefined
    this.reopen()
  }

  /** Waits until some more creates have got the response 200; returns whether that happened within a minute. */
  goOn(count: number): Promise<boolean> {
    const wanted = this.settled.length + count
    return becomesTrue(() => this.settled.length >= wanted)
  }

  /** Resolves when every create that was begun has its final response. */
  async finish(): Promise<void> {
    this.running = false
    await this.all
  }

  /** Stops without waiting: the test has failed, or is over. */
  abandon(): void {
    this.running = false
    this.abandoned = true
    this.reopen()
  }

  private async write(kind: 'device' | 'site'): Promise<void> {
    while (this.running) {
      const create = this.compose(kind)
      this.pending.add(create)
      while (!(this.abandoned || (await this.attempt(create)))) {
        create.unknown++
        if (this.shut !== undefined) await this.shut
        // As callers do, who do not repeat a request at once.
        else await sleep(retryAfterMs)
      }
      this.pending.delete(create)
    }
  }

  private compose(kind: 'device' | 'site'): Create {
    const name = newSerial()
    const { appId } = this.app
    const body = kind === 'device' ? deviceBody(appId, { deviceNo: name }) : siteBody(appId, { siteName: name })
    return { kind, name, key: `key-of-${name}`, body, unknown: 0, record: undefined }
  }

  /** Returns whether the create has its final response. */
  private async attempt(create: Create): Promise<boolean> {
    let answer: Answer<object>
    try {
      const options = { token: this.app.token, headers: { 'idempotency-key': create.key } }
      answer = await (create.kind === 'device'
        ? this.client.call('createDevice', create.body, options)
        : this.client.call('saveSite', create.body, options))
    } catch {
      return false
    }
    if (answer.status === 200 && answer.text.startsWith(success)) {
      create.record = answer.text.slice(success.length, -1)
      this.settled.push(create)
      return true
    }
    const isUnknown = answer.status === 503 && answer.code === 50003 && answer.headers.get('retry-after') !== null
    if (!isUnknown) {
      this.wrong.push(`${create.kind} ${create.name} after ${create.unknown} lost: ${answer.status} ${answer.text}`)
    }
    // A response with an outcome is final, so it is not repeated.
    return !isUnknown
  }
}

interface Stored {
  rows: number
  records: string[]
  keys: number
}

/** The stored rows of these creates by name, in one snapshot. */
export async function stored(sql: postgres.Sql, appId: string, creates: Create[]): Promise<Map<string, Stored>> {
  const found = new Map<string, Stored>(creates.map(({ name }) => [name, { rows: 0, records: [], keys: 0 }]))
  const names = creates.map((create) => create.name)
  await sql.begin('isolation level repeatable read', async (snapshot) => {
    const rows = await snapshot`
      select device_no as name, device_no as subject from device where app_id = ${appId} and device_no = any(${names})
      union all
      select site_name, id::text from site where app_id = ${appId} and site_name = any(${names})`
    const nameOf = new Map(rows.map((row) => [row.subject as string, row.name as string]))
    for (const row of rows) (found.get(row.name) as Stored).rows++
    const events = await snapshot`
      select subject, data from event
      where app_id = ${appId} and type in ('device.bound', 'site.created') and subject = any(${[...nameOf.keys()]})`
    for (const event of events) found.get(nameOf.get(event.subject) as string)?.records.push(event.data)
    const keys = await snapshot`
      select substr(key, 8) as name from idempotency_key
      where app_id = ${appId} and key = any(${creates.map(({ key }) => key)})`
    for (const key of keys) (found.get(key.name) as Stored).keys++
  })
  return found
}

/** The faults of creates with a 200: each must exist once, with one event, as the response said. */
export async function contradictions(sql: postgres.Sql, appId: string, settled: Create[]): Promise<string[]> {
  const found = await stored(sql, appId, settled)
  const all = settled.flatMap(({ kind, name, unknown, record }) => {
    const { rows, records, keys } = found.get(name) as Stored
    if (rows === 1 && keys === 1 && records.length === 1 && records[0] === record) return []
    return [`${kind} ${name}, told ${record} after ${unknown} lost: ${rows} rows, ${keys} keys, events ${records}`]
  })
  // The first ones are enough to find the cause.
  return all.length > 4 ? [...all.slice(0, 4), `and ${all.length - 4} more`] : all
}

/** The number of the application's records, and of the events that report them. */
export async function totals(sql: postgres.Sql, appId: string): Promise<{ rows: number; events: number }> {
  const [row] = await sql`
    select (select count(*) from device where app_id = ${appId})::int
      + (select count(*) from site where app_id = ${appId})::int as rows,
      (select count(*) from event where app_id = ${appId} and type in ('device.bound', 'site.created'))::int as events`
  return { rows: row?.rows, events: row?.events }
}

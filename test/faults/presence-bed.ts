import { Client } from '../kit/client.ts'
import type { OwnDatabase } from '../kit/database.ts'
import type { TestApplication } from '../kit/records.ts'
import type { Service } from '../kit/service.ts'
import { Workplace } from '../kit/workplace.ts'
import { registerDevices } from './state-reports.ts'

/** After this time without a report a device counts as silent. */
export const timeoutMs = 1000

export interface StateEvent {
  deviceNo: string
  appId: string
  actor: string
  at: number
  version: string | null
  change: unknown
}

export const byPresence = (events: StateEvent[]) => events.filter(({ actor }) => actor === 'platform:presence')

/** Two processes on one database, which take devices offline that were silent for a second. */
export class PresenceBed {
  readonly place = new Workplace()
  database!: OwnDatabase
  services: Service[] = []
  /** The processes that have not been killed. */
  clients: Client[] = []

  async start(): Promise<void> {
    this.database = await this.place.findDatabase()
    const env = { DATABASE_URL: this.database.url(), FORECOURT_PRESENCE_SECONDS: String(timeoutMs / 1000) }
    this.services = await Promise.all([1, 2].map(() => this.place.startService({ env })))
    this.clients = this.services.map((service) => new Client(service))
  }

  clear(): Promise<void> {
    return this.place.clear()
  }

  /** Uses the service processes in turn. */
  readonly each = (index: number) => this.clients[index % this.clients.length] as Client

  readonly newDevices = (app: TestApplication, count: number, by = this.each) => registerDevices(app, count, by)

  readonly readStateEvents = (serials: string[]): Promise<StateEvent[]> => {
    return this.database.run(async (sql) => {
      const rows = await sql`
        select device_no, app_id, actor, time, online_status, version, before from state_change
        where device_no in ${sql(serials)} order by id`
      return rows.map((row) => ({
        deviceNo: row.device_no as string,
        appId: row.app_id as string,
        actor: row.actor as string,
        at: (row.time as Date).getTime(),
        version: row.version as string | null,
        change: { onlineStatus: row.online_status, before: JSON.parse(row.before) },
      }))
    })
  }

  /** The physical version of the device's row, which changes with every update. */
  readonly rowVersion = (deviceNo: string) =>
    this.database.run(
      async (sql) => (await sql`select xmin::text, ctid::text from device where device_no = ${deviceNo}`)[0],
    )

  readonly countSigns = (serials: string[]) =>
    this.database.run(
      async (sql) =>
        (await sql`select from device_presence where device_no in ${sql(serials)} and seen_at is not null`).length,
    )
}

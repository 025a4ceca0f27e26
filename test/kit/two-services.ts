import { Client } from './client.ts'
import type { OwnDatabase } from './database.ts'
import type { Service } from './service.ts'
import { endsWithUs, sharedHome } from './shared-server.ts'
import { Workplace } from './workplace.ts'

export interface TwoServices {
  database: OwnDatabase
  services: [Service, Service]
  clients: [Client, Client]
}

let started: Promise<TwoServices> | undefined

/**
 * Two services on one database, for all files of this test process that neither stop, starve nor configure them, and
 * that look only at records of their own. They believe this machine's X-Forwarded-For, and send callbacks to it.
 */
export function twoServices(): Promise<TwoServices> {
  started ??= start()
  return started
}

async function start(): Promise<TwoServices> {
  const place = new Workplace(sharedHome())
  const database = await place.findDatabase()
  const env = {
    DATABASE_URL: database.url(),
    FORECOURT_OPERATOR_KEY: 'k'.repeat(40),
    FORECOURT_TRUSTED_PROXIES: '127.0.0.1,::1',
    FORECOURT_PRIVATE_CALLBACKS: 'allow',
  }
  const services = (await Promise.all([1, 2].map(() => place.startService({ env })))) as [Service, Service]
  for (const { process } of services) endsWithUs(process.pid as number)
  return { database, services, clients: services.map((service) => new Client(service)) as [Client, Client] }
}

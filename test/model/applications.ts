import fc from 'fast-check'
import type { ApplicationRecord } from '../../src/applications/contract.ts'
import type { Client } from '../kit/client.ts'
import { expectWhole, settled, succeeded, timed } from './answers.ts'
import {
  askedOf,
  command,
  logEvent,
  type ModelApplication,
  type Shown,
  type WeightedCommand,
  type World,
} from './world.ts'

function shownApplication({ appId, name, isOnline, createdAt }: ModelApplication): Shown {
  const record = {
    appId,
    appName: name,
    onlineStatus: isOnline ? 1 : 2,
    status: 1,
    frozenReason: null,
    tokenLifetimeSeconds: 7200,
    rateLimitPerSecond: null,
    overlapUntil: null,
  }
  return (told) => ({ ...record, createTime: settled(createdAt, (told as ApplicationRecord | null)?.createTime) })
}

async function toggle(world: World, client: Client, { app: index, isOnline }: { app: number; isOnline: boolean }) {
  const app = askedOf(world, { app: index, how: 'own' })
  const operation = isOnline ? 'takeApplicationOnline' : 'takeApplicationOffline'
  const { answer, at } = await timed(() => client.operate(operation, { appId: app.appId }))
  const isChange = app.isOnline !== isOnline
  app.isOnline = isOnline
  const data = shownApplication(app)
  expectWhole(answer, succeeded(data(answer.data)))
  if (!isChange) return
  const type = isOnline ? 'application.online' : 'application.offline'
  logEvent(app, { type, at, actor: 'operator:operator', subject: '', data })
}

export async function readApplication(client: Client, app: ModelApplication): Promise<void> {
  const answer = await client.operate('getApplication', { appId: app.appId })
  expectWhole(answer, succeeded(shownApplication(app)(answer.data)))
}

export function applicationCommands(): WeightedCommand[] {
  const app = fc.nat(2)
  const to = (isOnline: boolean) => app.map((app) => command('toggle', { app, isOnline }, toggle))
  return [
    { weight: 2, arbitrary: to(false) },
    // More often, so that the application is usually online and its devices can be created.
    { weight: 5, arbitrary: to(true) },
  ]
}

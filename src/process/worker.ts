import { startServer } from '../app.ts'
import { setDistributed } from '../database/cluster.ts'
import { Database } from '../database/database.ts'
import { openPools, poolSizes } from '../database/pools.ts'
import { Lifetime } from '../runtime/lifetime.ts'
import { openLog } from '../runtime/log.ts'
import { SecretBox } from '../secrets/box.ts'
import { setTimeZone } from '../vocabulary/moments.ts'
import { ParentChannel } from './channel.ts'

// Ends when its parent does.

const life = new Lifetime()
const peers = new ParentChannel()
process.on('disconnect', () => process.exit(1))
// A terminal sends the signal to all processes; the parent decides when to stop.
process.on('SIGINT', () => {})

async function serve(): Promise<void> {
  const { config, target, isDistributed, secretKeys, schemaVersion } = await peers.untilOrdered()
  setTimeZone(config.timeZone)
  setDistributed(isDistributed)
  const log = openLog(config.logLevel)
  life.onStop(() => log.flush())
  life.endAtUncaught(log)
  const database = new Database(target, config.statementTimeoutMs)
  life.onStop(() => database.close())
  const pools = openPools(database, database.open(poolSizes.control, { isByKeys: true }))
  const secrets = SecretBox.of(secretKeys)
  await startServer(life, { config, log, database, pools, secrets, schemaVersion, peers })
  peers.tellServing()
}

void life.run(serve, ['SIGTERM'], (error) => peers.tellFailed((error as Error).message))

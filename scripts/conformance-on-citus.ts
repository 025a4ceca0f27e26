import { readdirSync } from 'node:fs'
import { getReadiness } from '../src/service/contract.ts'
import { Cluster, coordinatorUrl } from '../test/citus/cluster.ts'
import { Caller } from '../test/citus/traffic.ts'
import { Client } from '../test/kit/client.ts'
import { type Service, startService } from '../test/kit/service.ts'
import { bunTest } from './bun-test.ts'

// Runs the conformance suite twice in a row against a service whose database is distributed, beside two busy callers,
// and then the tests that are only for a cluster; or the given files of the suite instead.
// FORECOURT_TEST_DATABASE_URL names any database of a Citus coordinator; the tests create others next to it, and remove
// them. Its user is a superuser on every node.

if (coordinatorUrl === undefined) {
  console.log('FORECOURT_TEST_DATABASE_URL names no database of a Citus coordinator.')
  process.exit(1)
}
const files = process.argv.slice(2)
const cluster = await Cluster.find()
let status = await conformance(await startService({ env: { DATABASE_URL: await cluster.newDistributed() } }))
await cluster.clear()
if (files.length === 0) {
  const ofCluster = readdirSync('test/citus').filter((name) => name.endsWith('.test.ts'))
  // One after the other: some change settings of nodes, or kill them.
  for (const file of [...ofCluster.map((name) => `test/citus/${name}`), 'test/faults/citus-kills.test.ts']) {
    status = (await bunTest([file], {})) || status
  }
}
process.exit(status)

async function conformance(service: Service): Promise<number> {
  const client = new Client(service)
  const { data } = await client.call(getReadiness, {})
  if (!data.distributed) throw new Error('the service does not know that its database is distributed')
  const callers = await Promise.all([1, 2].map(() => Caller.start(client, 5)))
  const everywhere = { FORECOURT_BASE_URL: service.url, FORECOURT_OPERATOR_KEY: service.operatorKey }
  const suite = files.length > 0 ? files : ['test/conformance']
  const runs = [await bunTest(suite, everywhere), await bunTest(suite, everywhere)]
  await Promise.all(callers.map((one) => one.stop()))
  const faults: string[] = []
  for (const one of callers) {
    console.log(`A caller beside: ${one.summary}`)
    faults.push(...one.wrong, ...(await one.differences()))
  }
  if (faults.length > 0) console.log(`What the callers beside found wrong:\n${faults.slice(0, 20).join('\n')}`)
  await service.stop()
  return runs.find((run) => run !== 0) ?? Math.min(faults.length, 1)
}

import { getReadiness } from '../src/service/contract.ts'
import { Cluster, coordinatorUrl } from '../test/citus/cluster.ts'
import { Client, startService } from '../test/harness.ts'
import { bunTest } from './bun-test.ts'

// Runs the conformance suite against a service whose database is distributed, and the tests that are only for a
// cluster. FORECOURT_TEST_DATABASE_URL names any database of a Citus coordinator; the tests create others next to it,
// and remove them. Its user is a superuser on every node.

if (coordinatorUrl === undefined) {
  console.log('FORECOURT_TEST_DATABASE_URL names no database of a Citus coordinator.')
  process.exit(1)
}
const cluster = await Cluster.find()
const service = await startService({ env: { DATABASE_URL: await cluster.newDistributed() } })
const { data } = await new Client(service).call(getReadiness, {})
if (!data.distributed) throw new Error('the service does not know that its database is distributed')
const files = process.argv.slice(2)
const everywhere = { FORECOURT_BASE_URL: service.url, FORECOURT_OPERATOR_KEY: service.operatorKey }
let status = await bunTest(files.length > 0 ? files : ['test/conformance', 'test/citus/'], everywhere)
await service.stop()
await cluster.clear()
// In a run of its own: it kills the nodes.
if (files.length === 0) status = (await bunTest(['test/faults/citus-kills.test.ts'], {})) || status
process.exit(status)

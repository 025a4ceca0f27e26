import { getReadiness } from '../src/service/contract.ts'
import { coordinatorUrl, distributeOnce } from '../test/citus.ts'
import { Client, startService } from '../test/harness.ts'
import { bunTest } from './bun-test.ts'

// Runs the conformance suite, and the test of the plans, against a service whose database is distributed: the one that
// FORECOURT_TEST_DATABASE_URL names, of a Citus coordinator, empty or used by this script before. Its user is a superuser.

if (coordinatorUrl === undefined) {
  console.log('FORECOURT_TEST_DATABASE_URL names no database of a Citus coordinator.')
  process.exit(1)
}
distributeOnce(coordinatorUrl)
const service = await startService({ env: { DATABASE_URL: coordinatorUrl } })
const { data } = await new Client(service).call(getReadiness, {})
if (!data.distributed) throw new Error('the service does not know that its database is distributed')
const files = process.argv.length > 2 ? process.argv.slice(2) : ['test/conformance', 'test/citus-plans.test.ts']
const status = bunTest(files, {
  FORECOURT_BASE_URL: service.url,
  FORECOURT_OPERATOR_KEY: service.operatorKey,
})
await service.stop()
process.exit(status)

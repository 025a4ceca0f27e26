import { readFileSync } from 'node:fs'
import newman from 'newman'

// Sends every request of a Postman collection once: `node postman.mjs postman.json`, with FORECOURT_URL, APP_ID,
// APP_SECRET and OPERATOR_KEY. Each request must be valid and its caller must be permitted. Other refusals are no fault
// of the collection, because its examples name records that need not exist.

const [, , path] = process.argv
const { FORECOURT_URL: baseUrl, APP_ID: appId, APP_SECRET: appSecret, OPERATOR_KEY: operatorKey } = process.env
const collection = JSON.parse(readFileSync(path, 'utf8'))
const envVar = Object.entries({ baseUrl, appId, appSecret, operatorKey }).map(([key, value]) => ({ key, value }))
const faulty = [10001, 10002, 10003, 49999]
const decided = [
  // They need a device model, a file, or a public address that does not exist.
  'Import device inventory',
  'Create import',
  'Start passkey session',
  // They are about a person, who signs in: an operator key has no session, password, second factor or view.
  'Delete session',
  'Confirm session',
  'Complete sign on',
  'Unlink sign on',
  'Get second factors',
  'Start totp',
  'Save totp',
  'Delete totp',
  'Start passkey',
  'Save passkey',
  'Delete passkey',
  'Renew recovery codes',
  'Save view',
  'Page views',
  'Page own operator keys',
  'Delete view',
]
const faults = []
let succeeded = 0
newman
  .run({ collection, envVar, reporters: [] })
  .on('request', (error, { item, response }) => {
    const text = response?.text() ?? ''
    const code = text.startsWith('{"code":') ? JSON.parse(text).code : 0
    if (code === 0) succeeded++
    if (error || response.code >= 500 || (faulty.includes(code) && !decided.includes(item.name)))
      faults.push(`${item.name}: ${error ?? text}`)
  })
  .on('done', (error, { run }) => {
    faults.push(...run.failures.map(({ source, error }) => `${source?.name}: ${error.message}`))
    const { total } = run.stats.requests
    console.log(`newman: ${total} requests of the collection, ${succeeded} succeeded, ${faults.length} at fault`)
    for (const fault of faults) console.error(fault)
    // At least half of the requests must succeed: without a token all would be refused, and without data nearly all.
    process.exit(error || faults.length > 0 || succeeded < total / 2 ? 1 : 0)
  })

// Follows the events of an application as they are written: with the SDK, on Bun, Node 22.18 or Deno. POSITION is the file
// with the id of the last event: after a kill the program continues there.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Forecourt } from 'forecourt-sdk'

const { FORECOURT_URL: baseUrl = 'http://127.0.0.1:8080', APP_ID: appId = '', APP_SECRET: appSecret = '' } = process.env
const file = process.env.POSITION ?? 'position.txt'
const forecourt = new Forecourt({ baseUrl, appId, appSecret })
const afterId = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0

// It never ends by itself: the SDK connects again from the last id, and renews the token.
for await (const event of forecourt.pageEvents.stream({ afterId })) {
  console.log(event.id, event.type)
  // Only after the work: if the program is killed in between, the event comes again, with the same id.
  writeFileSync(`${file}.new`, String(event.id))
  renameSync(`${file}.new`, file)
}

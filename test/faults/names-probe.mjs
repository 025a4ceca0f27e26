// Sends callbacks to host names, with its own name server, and prints the outcomes as JSON. It runs on Bun with the
// source and on Node with the build: node names-probe.mjs <the client's module>
import { scrypt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { createServer } from 'node:http'
import { promisify } from 'node:util'

const { openCallbackClient } = await import(process.argv[2])

/** The names that were looked up, with the time of the first query. */
const asked = new Map()
const server = createSocket('udp4')
server.on('message', (question, from) => {
  const labels = []
  let at = 12
  for (; question[at] > 0; at += question[at] + 1)
    labels.push(question.toString('latin1', at + 1, at + 1 + question[at]))
  const name = labels.join('.')
  if (!asked.has(name)) asked.set(name, performance.now())
  if (name.endsWith('.silent.test')) return
  const isAddress = question.readUInt16BE(at + 1) === 1 && name.endsWith('.honest.test')
  const answer = Buffer.from(question.subarray(0, at + 5))
  answer.writeUInt16BE(name.endsWith('.honest.test') ? 0x8180 : 0x8183, 2)
  answer.writeUInt16BE(isAddress ? 1 : 0, 6)
  answer.writeUInt32BE(0, 8)
  const address = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1])
  server.send(isAddress ? Buffer.concat([answer, address]) : answer, from.port, from.address)
})
await new Promise((resolve) => server.bind(0, '127.0.0.1', resolve))
const receiver = createServer((_, response) => response.end('ok'))
await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))

const nameServers = [`127.0.0.1:${server.address().port}`]
const client = openCallbackClient({ privateCallbacks: 'allow', nameServers })
const strict = openCallbackClient({ privateCallbacks: 'refuse', nameServers })

async function send(appId, host, through = client) {
  const startedAt = performance.now()
  const url = new URL(`http://${host}:${receiver.address().port}/`)
  const { error, responseStatus } = await through.send({ appId, url, headers: {}, body: '{}' })
  return { error, responseStatus, ms: performance.now() - startedAt }
}

const unknown = await send('one', 'x.none.test')
const private_ = await send('one', 'x.honest.test', strict)
const localhost = await send('one', 'localhost')

// Forty applications whose name servers are silent, repeatedly, and one whose names are found.
let isOver = false
const silent = []
const silentApplications = Array.from({ length: 40 }, async (_, n) => {
  for (let round = 0; !isOver; round++) silent.push(await send(`silent-${n}`, `r${round}-${n}.silent.test`))
})
const honest = []
const passwords = []
for (let n = 0; n < 30; n++) {
  honest.push(await send('honest', `h${n}.honest.test`))
  const startedAt = performance.now()
  await promisify(scrypt)('password', 'salt', 32)
  passwords.push(performance.now() - startedAt)
  await new Promise((resolve) => setTimeout(resolve, 100))
}
isOver = true
await Promise.all(silentApplications)

// An application looks up one name at a time, and does not look up again a name that was just not found.
await Promise.all([0, 1, 2].map((n) => send('same', `same${n}.silent.test`)))
const times = [0, 1, 2].map((n) => asked.get(`same${n}.silent.test`))
const gapMs = Math.min(times[1] - times[0], times[2] - times[1])
const questions = asked.size
const again = await send('another', 'same0.silent.test')
const remembered = { ...again, isAsked: asked.size > questions }

console.log(JSON.stringify({ unknown, private_, localhost, silent, honest, passwords, gapMs, remembered }))
process.exit()

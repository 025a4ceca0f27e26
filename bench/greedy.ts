// The load of one application that should harm no other: searches, replays, and requests that hang up. Prints a line
// when all of it is under way, and its counts at SIGTERM.
//
// bun bench/greedy.ts URL TOKEN
import { connect } from 'node:net'

const [url = '', token = ''] = process.argv.slice(2)
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
const search = '/api/charging/v1/siteManageThird/page?siteName=zzzz'
const replay = '/api/event/v1/delivery/replay'
const ofAllTime = JSON.stringify({ timeFrom: '2020-01-01 00:00:00', timeTo: '2037-01-01 00:00:00' })
const searchesAtOnce = 32
const replaysAtOnce = 24
// 400 a second.
const hangUps = 20
const hangUpEveryMs = 50
const restMs = 100
const began = performance.now()
let isUnderWay = false
let isReplaying = false
const done = { searches: 0, replays: 0, hangUps: 0 }

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const { hostname, port } = new URL(url)

async function loop(what: 'searches' | 'replays', send: () => Promise<Response>): Promise<void> {
  for (;;) {
    const status = await send().then(
      async (answer) => {
        await answer.arrayBuffer()
        return answer.status
      },
      () => 0,
    )
    if (status === 200) done[what]++
    else await pause(restMs)
    // A replay that outlasts its request continues; the others get 429.
    isReplaying ||= what === 'replays' && (status === 200 || status === 429)
    if (!isUnderWay && done.searches > 0 && isReplaying) {
      isUnderWay = true
      process.stdout.write('under way\n')
    }
  }
}

function hangUp(): void {
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.on('connect', () => {
    socket.write(`GET ${search} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\n\r\n`, () => {
      setTimeout(() => socket.destroy(), 20)
      done.hangUps++
    })
  })
}

for (let index = 0; index < searchesAtOnce; index++) void loop('searches', () => fetch(url + search, { headers }))
for (let index = 0; index < replaysAtOnce; index++) {
  void loop('replays', () => fetch(url + replay, { method: 'POST', headers, body: ofAllTime }))
}
process.on('SIGTERM', () => {
  process.stdout.write(JSON.stringify({ ...done, seconds: (performance.now() - began) / 1000 }), () => process.exit())
})
setInterval(() => {
  for (let index = 0; index < hangUps; index++) hangUp()
}, hangUpEveryMs)

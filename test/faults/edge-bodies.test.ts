import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { issueToken } from '../../src/applications/tokens/contract.ts'
import { Client, target } from '../kit/client.ts'
import { newApplication } from '../kit/records.ts'
import { atScale, longTest, tell } from '../kit/scale.ts'
import { becomesTrue, load } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'

const place = new Workplace()
afterAll(() => place.clear(), 60_000)

const bytes = 8 * 1024 * 1024 - 64
const fill = (piece: string) => piece.repeat(Math.floor(bytes / piece.length))
const rows = (count: number, row: object) => Array.from({ length: count }, () => row)
const faultyDevice = { deviceNo: 'a b', deviceName: '', tag: 3, provinceCode: 5, detailAddress: 7, coordinates: 'x' }
const hostile: [what: string, text: string][] = [
  ['zeros', `{"entries":[${fill('0,')}0]}`],
  ['arrays', `{"entries":[${fill('[],')}[]]}`],
  ['empty objects', `{"entries":[${fill('{},')}{}]}`],
  ['arrays 400,000 deep', '['.repeat(400_000)],
  ['escaped quotes', `{"entries":["${fill('\\"')}"]}`],
  ['one number', `{"entries":[${fill('1')}]}`],
  ['names', `{${Array.from({ length: 400_000 }, (_, index) => `"k${index}":0`).join(',')}}`],
  ['20,000 faulty entries', JSON.stringify({ entries: rows(20_000, { deviceNo: 'a b', modelName: '' }) })],
]

/** A health request usually takes milliseconds; a body that blocks the event loop delays it by seconds. */
const heldAtMostMs = 1000

longTest('a body of 8 MiB holds nobody up, whatever is in it', async () => {
  const service = await place.startService()
  const client = new Client(service)
  for (const [what, text] of hostile) {
    const { status } = await holdsNobodyUp(client, what, client.operate('importDeviceInventory', text))
    expect([what, status]).toEqual([what, 400])
  }
  const { appId } = await newApplication(client)
  const batch = JSON.stringify({ appId, devices: rows(1000, faultyDevice) })
  const { data } = await holdsNobodyUp(client, '1,000 faulty rows', client.operate('createDevices', batch))
  expect(data?.results.filter(({ code }) => code === 10001)).toHaveLength(1000)
  expect(await service.stop()).toBe(0)
})

test('of a thousand faults and more a thousand are told', async () => {
  const entries = rows(20_000, { deviceNo: 'a b', modelName: '' })
  const { text } = await (await target()).operate('importDeviceInventory', { entries })
  const { code, data } = JSON.parse(text)
  expect(code).toBe(10001)
  expect(data.errors).toHaveLength(1000)
  expect(data.errors.at(-1).field).toBe('entries[499].modelName')
})

const bodies = atScale(50, 100)
/** A list of the received pieces would need some hundred bytes for each byte of a body, 6 MB; collections of garbage may wait. */
const grownAtMostMegabytes = 3 * bodies

longTest('bodies in chunks of one byte take no more memory than others', async () => {
  const service = await place.startService()
  const before = megabytesOf(service.process.pid)
  const { hostname, port } = new URL(service.url)
  const lines = [`POST ${issueToken.path} HTTP/1.1`, `Host: ${hostname}`, 'Content-Type: application/json']
  const unfinished = `${lines.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\n0\r\n'.repeat(60_000)}`
  const sockets = Array.from({ length: bodies }, () => connect(Number(port), hostname))
  let closed = 0
  for (const socket of sockets) {
    socket.on('error', () => {})
    socket.on('close', () => closed++)
    socket.resume()
    socket.write(unfinished)
  }
  let most = 0
  const areClosed = () => {
    most = Math.max(most, megabytesOf(service.process.pid))
    return closed === sockets.length
  }
  await becomesTrue(areClosed, 10_000)
  tell(`memory grew by ${(most - before).toFixed(0)} MB`)
  expect(most - before).toBeLessThan(grownAtMostMegabytes)
  for (const socket of sockets) socket.destroy()
  await becomesTrue(areClosed)
  expect((await new Client(service).call('getHealth', {})).status).toBe(200)
  expect(await service.stop()).toBe(0)
})

/** Sends health requests until the response has arrived, and checks that none of them waited long. */
async function holdsNobodyUp<Answer extends { status: number }>(
  client: Client,
  what: string,
  sent: Promise<Answer>,
): Promise<Answer> {
  let longest = 0
  const asking = load(
    async () => {
      const began = performance.now()
      await client.call('getHealth', {})
      longest = Math.max(longest, performance.now() - began)
    },
    { pauseMs: 5 },
  )
  const answer = await sent.finally(() => asking.stop())
  tell(`${what}: ${answer.status}, others waited ${longest.toFixed(0)} ms at most`)
  expect(longest).toBeLessThan(heldAtMostMs)
  return answer
}

function megabytesOf(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

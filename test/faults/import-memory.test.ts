import { afterAll, expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createImport } from '../../src/bulk/contract.ts'
import { Client, newApplication } from '../harness.ts'
import { longTest } from '../long.ts'
import { onDisk, tell, Workplace } from './support.ts'

const place = new Workplace(onDisk)
afterAll(() => place.clear(), 60_000)

/** Node collects later than Bun: its memory rises in the first third of the file, and no more after it. */
const mostMegabytes = process.env.FORECOURT_TEST_RUNTIME === 'node' ? 350 : 250

/** A file of about 1 GB, generated while it is uploaded. */
function* rows(): Generator<Uint8Array> {
  const encoder = new TextEncoder()
  yield encoder.encode('deviceNo,deviceName,districtCode,coordinates,detailAddress\n')
  const filler = 'x'.repeat(200)
  for (let portion = 0; portion < 4200; portion++) {
    const lines = Array.from({ length: 1000 }, (_, n) => `BIG-${portion}-${n},Gate,360102,"115.9,28.6",${filler}\n`)
    yield encoder.encode(lines.join(''))
  }
}

longTest(
  'a file of 1 GB is taken in little memory',
  async () => {
    const service = await place.startService()
    const client = new Client(service)
    const { appId } = await newApplication(client)
    const made = rows()
    let bytes = 0
    const file = new ReadableStream<Uint8Array>({
      pull(controller) {
        const { done, value } = made.next()
        if (done) return controller.close()
        bytes += value.byteLength
        controller.enqueue(value)
      },
    })
    const taken = await client.operate(createImport, { appId, kind: 'devices', dryRun: 'true', file })
    expect([taken.code, taken.data.bytes]).toEqual([0, bytes])
    expect(bytes).toBeGreaterThan(1e9)
    const peak =
      Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${service.process.pid}/status`, 'utf8'))?.[1]) / 1024
    tell(`${(bytes / 1e6).toFixed(0)} MB were taken with at most ${peak.toFixed(0)} MB resident`)
    expect(peak).toBeLessThan(mostMegabytes)
    await service.stop()
  },
  600_000,
)

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Names, readHosts } from './names.ts'

const folder = mkdtempSync(join(tmpdir(), 'forecourt-names-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const text = `
127.0.0.1\tlocalhost
10.0.0.7   Receiver.Internal receiver # of the test
fd00::7    receiver.internal
# 10.0.0.8 commented.out
not-an-address name
`

test('a hosts file is read as the system reads it', () => {
  expect(Object.fromEntries(readHosts(text))).toEqual({
    localhost: [{ address: '127.0.0.1', family: 4 }],
    'receiver.internal': [
      { address: '10.0.0.7', family: 4 },
      { address: 'fd00::7', family: 6 },
    ],
    receiver: [{ address: '10.0.0.7', family: 4 }],
  })
})

test('localhost is loopback, and a name of the hosts file is found without a name server', async () => {
  const hostsFile = join(folder, 'hosts')
  writeFileSync(hostsFile, text)
  // No name server listens there.
  const names = new Names({ hostsFile, nameServers: ['127.0.0.1:1'] })
  for (const name of ['localhost', 'LOCALHOST', 'app.localhost']) {
    expect((await names.find(name, 'app')).map(({ address }) => address)).toEqual(['127.0.0.1', '::1'])
  }
  expect(await names.find('RECEIVER', 'app')).toEqual([{ address: '10.0.0.7', family: 4 }])
  expect(await names.find('commented.out', 'app').catch(({ kind, detail }) => [kind, typeof detail])).toEqual([
    'name',
    'string',
  ])
})

import { expect, test } from 'bun:test'
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { certificateReader } from './certificate.ts'
import { judgeCertificate } from './findings.ts'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

test.skipIf(!hasOpenssl)('the end of the public address’s certificate is read, whoever signed it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-test-'))
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key.pem']
  execFileSync('openssl', ['req', '-x509', ...newKey, '-days', '9', '-subj', '/CN=localhost', '-out', 'cert.pem'], {
    cwd: folder,
    stdio: 'pipe',
  })
  const read = (name: string) => readFileSync(join(folder, name))
  const server = createServer({ key: read('key.pem'), cert: read('cert.pem') })
  try {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const found = await certificateReader({ publicUrl: `https://127.0.0.1:${port}` })?.()
    const days = ((found?.endsAt?.getTime() ?? 0) - Date.now()) / 86_400_000
    expect(days).toBeWithin(8.5, 9.1)
    expect(judgeCertificate(found ?? { host: '', endsAt: null }, String)).toMatchObject({
      code: 'certificateEnds',
      status: 'warn',
      values: { host: '127.0.0.1', days: 8 },
    })
  } finally {
    server.close()
    rmSync(folder, { recursive: true })
  }
})

test('an address at which nothing answers, or without TLS, has no certificate to be late', async () => {
  expect(await certificateReader({ publicUrl: 'https://127.0.0.1:1' })?.()).toEqual({ host: '127.0.0.1', endsAt: null })
  expect(judgeCertificate({ host: 'x', endsAt: null }, String).status).toBe('ok')
  expect(judgeCertificate({ host: 'x', endsAt: new Date(Date.now() - 86_400_000) }, String).status).toBe('fail')
  expect(judgeCertificate({ host: 'x', endsAt: new Date(Date.now() + 20 * 86_400_000) }, String).status).toBe('ok')
  expect(certificateReader({ publicUrl: 'http://localhost:8080' })).toBeUndefined()
  expect(certificateReader({ publicUrl: undefined })).toBeUndefined()
})

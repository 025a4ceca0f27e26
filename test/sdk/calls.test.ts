import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FileAnswer, Forecourt, ImportStatus, OnlineStatus } from '../../sdk/src/index.ts'
import { operations } from '../../src/reference/operations.ts'
import { refusals } from '../../src/vocabulary/refusals.ts'
import { projectFolder } from '../kit/folders.ts'
import { deviceBody, newApplication, newSerial } from '../kit/records.ts'
import { baseUrl, client, errorOf, newSdk, newSite, standIn } from './support.ts'

describe('the SDK', () => {
  test('has a method for each operation, by its id, and .all for each page', () => {
    const forecourt = new Forecourt({ baseUrl, token: 'any' }) as unknown as Record<string, { all?: unknown }>
    for (const { id, query } of operations) {
      expect(forecourt[id], id).toBeFunction()
      expect(typeof forecourt[id]?.all, id).toBe(query?.properties.cursor === undefined ? 'undefined' : 'function')
    }
  })

  test('creates with an application’s secret, and answers the data', async () => {
    const { appId, forecourt } = await newSdk()
    const device = deviceBody(appId)
    const created = await forecourt.createDevice(device)
    expect(created).toMatchObject({ deviceNo: device.deviceNo, status: 1 })
    expect(await forecourt.getDevice({ deviceNo: device.deviceNo })).toEqual(created)
    const site = await forecourt.saveSite(newSite(appId))
    expect((await forecourt.getSite({ id: site.id })).siteName).toBe(site.siteName)
  })

  test('throws a refusal with its code, name, message, status, faulty members and request id', async () => {
    const { appId, forecourt } = await newSdk()
    const device = deviceBody(appId)
    await forecourt.createDevice(device)
    const error = await errorOf(forecourt.createDevice(device))
    const { code, status, en } = refusals.deviceAlreadyYours
    const named = { message: `createDevice: ${en}`, reason: en, operation: 'createDevice' }
    expect(error).toMatchObject({ name: 'deviceAlreadyYours', code, status, errors: [], ...named })
    expect(error.requestId).toMatch(/^[\w-]{36}$/)
    const faulty = await errorOf(forecourt.createDevice({ ...device, deviceName: '', coordinates: '1' }))
    expect(faulty.name).toBe('invalidRequest')
    expect(faulty.errors.map(({ field }) => field).sort()).toEqual(['coordinates', 'deviceName'])
    for (const { field, reason } of faulty.errors) expect(String(faulty)).toContain(`${field}: ${reason}`)
    const chinese = new Forecourt({ baseUrl, operatorKey: client.operatorKey, language: 'zh' })
    expect((await errorOf(chinese.createDevice(device))).reason).toBe(refusals.deviceAlreadyYours.zh)
  })

  test('walks every row of a page operation, by cursor', async () => {
    const { appId, forecourt } = await newSdk()
    const prefix = newSerial('ALL')
    const devices = Array.from({ length: 25 }, (_, n) => deviceBody(appId, { deviceNo: `${prefix}-${n}` }))
    await forecourt.createDevices({ appId, devices })
    const found: string[] = []
    for await (const { deviceNo } of forecourt.pageDevices.all({ pageSize: 10 })) found.push(deviceNo)
    expect(found.sort()).toEqual(devices.map(({ deviceNo }) => deviceNo).sort())
    const types: string[] = []
    for await (const { type } of forecourt.pageEvents.all({ type: 'device.bound', pageSize: 20 })) types.push(type)
    expect(types).toEqual(devices.map(() => 'device.bound'))
    for await (const { deviceNo } of forecourt.pageDevices.all({ deviceNo: `${prefix}-7` })) {
      expect(deviceNo).toBe(`${prefix}-7`)
    }
  })

  test('has events that narrow by their type, and outcomes of batches that narrow by their code', async () => {
    const { appId, forecourt } = await newSdk()
    const device = deviceBody(appId)
    const { results } = await forecourt.createDevices({ appId, devices: [device, { ...device, coordinates: 'x' }] })
    const [done, refusedRow] = results
    // The types are tested too: without narrowing by `code`, this would not compile.
    expect(done?.code === 0 ? done.data.deviceNo : undefined).toBe(device.deviceNo)
    expect(refusedRow?.code === 0 ? [] : refusedRow?.data?.errors.map(({ field }) => field)).toEqual(['coordinates'])
    const changed = await forecourt.updateDevices({
      appId,
      devices: [
        { deviceNo: device.deviceNo, deviceName: 'West gate' },
        { deviceNo: 'none', deviceName: 'x' },
      ],
    })
    const names = changed.results.map((row) => (row.code === 0 ? row.data.deviceName : row.code))
    expect(names).toEqual(['West gate', refusals.deviceNotFound.code])
    const serials: string[] = []
    for await (const event of forecourt.pageEvents.all()) {
      if (event.type === 'device.bound') serials.push(event.data.deviceNo)
      if (event.type === 'site.created') serials.push(event.data.siteName)
    }
    expect(serials).toEqual([device.deviceNo])
  })

  test('sends files and reads them, whole, as a stream and row by row', async () => {
    const { forecourt } = await newSdk()
    const columns = 'deviceNo,deviceName,districtCode,coordinates'
    const serials = [newSerial('SDK'), newSerial('SDK')]
    const text = [columns, ...serials.map((serial) => `${serial},门,360102,"1,2"`), 'x'].join('\n')
    const stream = new Blob([text]).stream() as ReadableStream<Uint8Array>
    for (const [file, told] of [
      [text, { created: 2, existing: 0, refused: 1 }],
      [stream, { created: 0, existing: 2, refused: 1 }],
      [new Blob([text], { type: 'text/csv; charset=utf-8' }), { created: 0, existing: 2, refused: 1 }],
    ] as const) {
      const { id, ...done } = await forecourt.importFile({ kind: 'devices', file })
      expect(done).toMatchObject({ status: ImportStatus.done, ...told })
      const lines: unknown[] = []
      for await (const { line, code } of (await forecourt.getImportResult({ id, outcome: 'refused' })).rows()) {
        lines.push([line, code])
      }
      expect(lines).toEqual([[4, 10001]])
    }
    const exported = await forecourt.createExport({ kind: 'devices', format: 'ndjson' })
    expect(exported).toMatchObject({
      mediaType: 'application/x-ndjson',
      name: expect.stringMatching(/^devices-.*\.ndjson$/),
    })
    const found: unknown[] = []
    for await (const { deviceNo } of exported.rows()) found.push(deviceNo)
    expect(found.sort()).toEqual(serials.toSorted())
    expect((await (await forecourt.getTemplate({ kind: 'inventory' })).text()).trim()).toBe('deviceNo,modelName')
    const error = await errorOf(forecourt.createImport({ kind: 'devices', file: 'serial\n' }))
    expect(error.errors.map(({ field }) => field)).toContain('serial')
  })

  test('sends a string as what it is, UTF-8, and files as they are', async () => {
    await using place = standIn(() => undefined)
    const forecourt = new Forecourt({ baseUrl: place.url, token: 'any' })
    const typeOf = async (input: Omit<Parameters<Forecourt['createImport']>[0], 'kind'>) => {
      await errorOf(forecourt.createImport({ kind: 'devices', ...input } as never))
      return place.requests.at(-1)?.headers.get('content-type')
    }
    expect(await typeOf({ file: '涓枃' })).toBe('text/csv; charset=utf-8')
    expect(await typeOf({ file: '{}', format: 'ndjson' } as never)).toBe('application/x-ndjson')
    expect(await typeOf({ file: new Blob(['a']) })).toBe('text/csv')
    expect(await typeOf({ file: new Uint8Array([65]) })).toBe('text/csv')
    expect(await typeOf({ file: '涓枃', charset: 'gb18030' } as never)).toBe('text/csv; charset=utf-8')
    expect(await typeOf({ file: new Blob(['a']), charset: 'gb18030' } as never)).toBe('text/csv; charset=gb18030')
  })

  test('reads what has no envelope, by its media type', async () => {
    const forecourt = new Forecourt({ baseUrl, operatorKey: client.operatorKey })
    expect(await forecourt.getMetrics()).toContain('forecourt_')
    expect(await forecourt.getOpenApi()).toMatchObject({ openapi: expect.any(String) })
    expect((await forecourt.getHealth()).alive).toBe(true)
  })

  test('answers what the headers say too, and names values', async () => {
    const { appId, forecourt } = await newSdk({ rateLimitPerSecond: 50 })
    const device = deviceBody(appId)
    const options = { idempotencyKey: 'once' }
    const first = await forecourt.createDevice.raw(device, options)
    const rateLimit = { limit: 50, remaining: expect.any(Number), resetSeconds: expect.any(Number) }
    expect(first).toMatchObject({ etag: expect.stringMatching(/^"/), replayed: false, rateLimit })
    expect(first.requestId).toMatch(/^[\w-]{36}$/)
    expect(first.data.onlineStatus).toBe(OnlineStatus.offline)
    expect(await forecourt.createDevice.raw(device, options)).toMatchObject({ data: first.data, replayed: true })
    const operators = new Forecourt({ baseUrl, operatorKey: client.operatorKey })
    expect((await operators.getDevice.raw({ deviceNo: device.deviceNo })).rateLimit).toBeNull()
  })

  test('refuses at once what cannot work: no caller, no address, plain http to another machine', () => {
    const token = 'any'
    const construct = (options: object) => () => new Forecourt(options as never)
    expect(construct({})).toThrow(/needs .*baseUrl.*appSecret.*operatorKey.*token/)
    expect(construct({ baseUrl, appId: 'a' })).toThrow(/needs/)
    for (const wrong of [undefined, 'localhost:8080', 'http://', 'ftp://example.com']) {
      expect(construct({ baseUrl: wrong, token })).toThrow(/baseUrl must be an address/)
    }
    for (const more of ['https://user:secret@example.com', 'https://example.com?x=1', 'https://example.com/#x']) {
      expect(construct({ baseUrl: more, token })).toThrow(/^baseUrl must not hold .+https:\/\/example\.com is/)
    }
    for (const open of ['http://forecourt.example.com', 'http://127.0.0.1.example.com', 'http://10.0.0.1:8080']) {
      expect(construct({ baseUrl: open, token })).toThrow(/plain text/)
      expect(construct({ baseUrl: open, token, allowHttp: true })).not.toThrow()
    }
    for (const own of ['http://localhost:8080', 'http://[::1]:8080', 'http://127.0.0.2/', 'https://example.com']) {
      expect(construct({ baseUrl: own, token })).not.toThrow()
    }
  })

  test('reads the last row of a file also without a line feed behind it', async () => {
    for (const [text, rows] of [
      ['{"a":1}\n{"a":2}', [{ a: 1 }, { a: 2 }]],
      ['{"a":1}\n', [{ a: 1 }]],
      ['', []],
    ] as const) {
      const found: unknown[] = []
      for await (const row of new FileAnswer(new Response(text)).rows()) found.push(row)
      expect(found).toEqual([...rows])
    }
  })

  test('refuses an update of what has changed since, by If-Match', async () => {
    const { appId, forecourt } = await newSdk()
    const { data, etag } = await forecourt.saveSite.raw(newSite(appId))
    const { id } = data
    const ifMatch = String(etag)
    expect(ifMatch).toMatch(/^"/)
    await forecourt.updateSite({ id, contacts: 'Li Lei' }, { ifMatch })
    expect((await errorOf(forecourt.updateSite({ id, contacts: 'Han Mei' }, { ifMatch }))).name).toBe(
      'preconditionFailed',
    )
  })

  describe('from its bundle', () => {
    const folder = mkdtempSync(join(tmpdir(), 'forecourt-sdk-'))
    const file = join(folder, 'sdk.mjs')
    beforeAll(async () => {
      // The SDK runs in browsers, so it must not import anything of Node or Bun.
      const entrypoints = [join(projectFolder, 'sdk', 'src', 'index.ts')]
      const built = await Bun.build({ entrypoints, target: 'browser', packages: 'external' })
      const text = await (built.outputs[0] as Blob).text()
      expect(text).not.toMatch(/^import /m)
      await Bun.write(file, text)
    })
    afterAll(() => rmSync(folder, { recursive: true }))

    test.each(['node', process.execPath])('works on %s', async (runtime) => {
      const { appId, appSecret } = await newApplication(client)
      const program = `
        import { Forecourt } from ${JSON.stringify(file)}
        const forecourt = new Forecourt(${JSON.stringify({ baseUrl, appId, appSecret })})
        await forecourt.createDevice(${JSON.stringify(deviceBody(appId))})
        const types = []
        for await (const { type } of forecourt.pageEvents.all()) types.push(type)
        const again = await forecourt.getDevice({ deviceNo: 'none' }).catch(({ name, code }) => ({ name, code }))
        const closed = new Forecourt({ baseUrl: 'http://127.0.0.1:3', token: 'any', retries: 0 })
        const { message } = await closed.pageSites().catch((error) => error)
        console.log(JSON.stringify({ types, again, message }))`
      const path = join(folder, `program-${newSerial()}.mjs`)
      await Bun.write(path, program)
      const { stdout, stderr } = spawnSync(runtime, [path], { encoding: 'utf8' })
      expect(stderr).toBe('')
      const { code } = refusals.deviceNotFound
      const types = expect.arrayContaining(['thirdPartyConfig.saved', 'device.bound'])
      const message = expect.stringMatching(/^pageSites: no answer: .*(ECONNREFUSED|bad port|ConnectionRefused)/)
      expect(JSON.parse(stdout)).toEqual({ types, again: { name: 'deviceNotFound', code }, message })
    })
  })
})

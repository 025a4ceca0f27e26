import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { newPerson, signIn } from '../kit/people.ts'
import { deviceBody, newApplication, newSerial } from '../kit/records.ts'
import { client, expectFaults, expectRefusal, linesOf, succeed } from './support.ts'

// The export of the audit trail (contract §8, kind `audit`): the rows of its page operation, for those who may read it.

const application = await newApplication(client)
const { appId } = application

async function exported(format: string, filters: object) {
  const { status, text, headers } = await client.operate('createExport', { kind: 'audit', format, ...filters })
  expect(status, text).toBe(200)
  expect(headers.get('content-disposition')).toMatch(
    new RegExp(`^attachment; filename="audit-\\d{8}-\\d{6}\\.${format}"$`),
  )
  return text
}

const rowsOf = async (filters: object): Promise<unknown[]> => linesOf(await exported('ndjson', filters))

const listed = async (filters: object) => (await succeed('pageAudit', { ...filters, pageSize: 100 })).list

describe('the export of the audit trail', () => {
  test('has the rows of its page, with each of its filters', async () => {
    const { id } = await newPerson(client, 'viewer')
    await client.operate('updateOperator', { id, role: 'operator' })
    await client.operate('updateApplication', { appId, appName: newSerial('=name') })
    const ofPerson = { subject: String(id), type: 'operator.*' }
    expect(await rowsOf(ofPerson)).toHaveLength(2)
    const [{ id: last = 0 } = {}] = await listed(ofPerson)
    for (const filters of [
      ofPerson,
      { ...ofPerson, type: 'operator.updated' },
      { ...ofPerson, beforeId: last },
      { appId },
      { appId, actor: 'operator', timeFrom: '2020-01-01 00:00:00' },
      { appId, timeTo: '2020-01-01 00:00:00' },
      { actorId: id },
    ]) {
      expect(await rowsOf(filters)).toEqual(await listed(filters))
    }
  })

  test('is longer than a page', async () => {
    const reader = await newPerson(client, 'admin')
    const headers = await signIn(client, reader)
    const devices = Array.from({ length: 510 }, () => deviceBody('', { appId: undefined }))
    await succeed('createDevices', { appId, devices }, { headers })
    const rows = (await rowsOf({ actorId: reader.id, type: 'device.bound' })) as { id: number; subject: string }[]
    expect(rows.map(({ subject }) => subject).sort()).toEqual(devices.map(({ deviceNo }) => deviceNo).sort())
    expect(rows.map(({ id }) => id)).toEqual(rows.map(({ id }) => id).toSorted((one, other) => other - one))
  })

  test('is CSV with the record in one cell, and no formula', async () => {
    const name = newSerial('=1+1')
    const { id } = await succeed('createOperator', { name, role: 'viewer' })
    const rows: Record<string, string>[] = parse(await exported('csv', { subject: String(id) }), {
      columns: true,
      bom: true,
    })
    const [row] = rows
    expect(Object.keys(row ?? {})).toEqual([
      ...['id', 'type', 'appId', 'time', 'occurredAt', 'actor', 'data', 'actorId', 'subject', 'address'],
    ])
    expect(row).toMatchObject({ type: 'operator.created', subject: String(id), appId: '' })
    expect(JSON.parse(row?.data ?? '')).toMatchObject({ id, name })
  })

  test('refuses filters of other kinds, unknown types and GeoJSON', async () => {
    const asked = (query: object) => client.operate('createExport', { kind: 'audit', ...query })
    expectFaults(await asked({ deviceNo: 'D1' }), ['deviceNo'])
    expectFaults(await asked({ type: 'nothing.happened' }), ['type'])
    expectFaults(await asked({ format: 'geojson' }), ['format'])
  })

  test.each(['admin', 'operator', 'viewer'])('is answered to the role %s', async (role) => {
    const headers = await signIn(client, await newPerson(client, role))
    expect((await client.call('createExport', { kind: 'audit', actorId: 1 }, { headers })).status).toBe(200)
  })

  test('is refused to those who may not read the audit trail, before its filters are looked at', async () => {
    const headers = await signIn(client, await newPerson(client, 'developer', [appId]))
    for (const filters of [{}, { appId }, { deviceNo: 'D1' }]) {
      const query = { kind: 'audit', ...filters }
      expectRefusal(await client.call('createExport', query, { headers }), 'notPermitted')
      expectRefusal(await client.call('createExport', query, application), 'notPermitted')
    }
  })
})

import { expect, test } from 'bun:test'
import { deviceBody, newApplication } from '../kit/records.ts'
import { asOperator, command, failed, told as outcomeOf } from './support.ts'

// Acts on everything that matches, with the command line.

const { client, settings } = await asOperator()
const owner = await newApplication(client)
const devices = Array.from({ length: 3 }, () => ({ ...deviceBody(''), appId: undefined, tag: '7' }))
await client.call('createDevices', { devices }, owner)

const act = (...args: string[]) => command(['act', ...args, '--app', owner.appId], settings)

test('a dry run counts, another number than expected ends with 3, and an update tells what it did', async () => {
  // In a filter of a text, a number stays text; in a filter of a status, it becomes a number.
  const filters = ['--filter', 'tag=7', '--filter', 'status=1']
  const dry = await act('devices', 'update', ...filters, '--set', 'tag=8', '--dry-run', '--json')
  const asked = { filter: { tag: '7', status: 1 }, set: { tag: '8' } }
  expect(outcomeOf(dry)).toMatchObject({ code: 0, dryRun: true, rows: 3, done: 0, status: 3, ...asked })
  const other = await act('devices', 'update', ...filters, '--set', 'tag=8', '--expect', '2')
  expect(other).toEqual(failed(3, /^70004 rowsChanged[\s\S]*expectedRows: .*3/))
  const done = await act('devices', 'update', ...filters, '--set', 'tag=', '--expect', '3')
  expect(done).toMatchObject({ code: 0, stderr: '' })
  expect(done.stdout).toMatch(/^rows +3\ndone +3\nunchanged +0\nrefused +0$/m)
  expect((await client.call('pageDevices', {}, owner)).data.list.map(({ tag }) => tag)).toEqual([null, null, null])
})

test('refused rows are told, with 4; wait shows an act again, and what cannot be asked is refused', async () => {
  const all = ['--filter', 'all=true', '--reason', 'x']
  const refused = await act('devices', 'transfer', ...all, '--target-app', owner.appId, '--json')
  const told = JSON.parse(refused.stdout)
  expect({ code: refused.code, ...told }).toMatchObject({ code: 4, refused: 3, refusals: [{ code: 20017 }, {}, {}] })
  const waited = await command(['act', 'wait', String(told.id)], settings)
  expect(waited).toEqual({ code: 4, stdout: expect.stringMatching(/^\S+: 20017 \S+/m), stderr: '' })
  expect(await command(['act', 'cancel', String(told.id)], settings)).toMatchObject({ code: 3 })
  expect(await act('devices', 'unbind', '--filter', 'deviceno=x')).toEqual(failed(3, 'filter.deviceno'))
  const codes = [
    act('devices', 'delete', ...all),
    act('sites', 'unbind', ...all),
    act('devices', 'unbind', '--filter', 'x'),
  ]
  expect((await Promise.all(codes)).map(({ code }) => code)).toEqual([2, 2, 2])
  expect(await act('devices', 'unbind', '--filter', 'all=true')).toMatchObject({ code: 0 })
})

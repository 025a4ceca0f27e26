import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { newDataDir } from '../kit/folders.ts'
import { newApplication, newSerial } from '../kit/records.ts'
import { asOperator, command, failed, told as outcomeOf, startForecourt } from './support.ts'

// Imports and exports with the command line.

const { client, settings } = await asOperator()
const { appId } = await newApplication(client)
const folder = newDataDir()

const head = 'deviceNo,deviceName,districtCode,coordinates'
const rowOf = (deviceNo: string) => `${deviceNo},"东门, 道闸",360102,"115.9,28.6"`
const serials = [newSerial(), newSerial()]

test('an import waits for its rows, tells which were refused and why, and ends with 4; sent again, they are there', async () => {
  const file = join(folder, 'devices.csv')
  writeFileSync(file, [head, ...serials.map(rowOf), 'with space,x,360102,"115.9,28.6"', ''].join('\n'))
  const dry = await command(['import', 'devices', file, '--app', appId, '--dry-run', '--json'], settings)
  expect(outcomeOf(dry)).toMatchObject({ code: 4, dryRun: true, created: 2, refused: 1 })

  const first = await command(['import', 'devices', file, '--app', appId], settings)
  expect(first).toMatchObject({ code: 4, stderr: '' })
  expect(first.stdout).toMatch(/^created +2\nexisting +0\nrefused +1\nline 4: 10001 deviceNo: /m)

  const row = { deviceName: '东门, 道闸', districtCode: '360102', coordinates: '115.9,28.6' }
  const lines = serials.map((deviceNo) => JSON.stringify({ deviceNo, ...row })).join('\n')
  const ofLines = ['import', 'devices', '-', '--format', 'ndjson', '--app', appId, '--json']
  const again = await command(ofLines, settings, lines)
  const told = JSON.parse(again.stdout)
  expect({ code: again.code, ...told }).toMatchObject({ code: 0, created: 0, existing: 2, refused: 0, refusals: [] })
  const waited = await command(['import', 'wait', String(told.id), '--json'], settings)
  expect(outcomeOf(waited)).toEqual({ code: 0, ...told })
})

test('refused rows are saved with their reasons, corrected, and sent again', async () => {
  const [file, refused] = [join(folder, 'foreign.csv'), join(folder, 'refused.csv')]
  const bad = newSerial()
  const other = (await newApplication(client)).appId
  writeFileSync(file, `${head},remark\n${rowOf(newSerial())},x\n${bad},East,360102,nowhere,y\n`)
  const args = ['import', 'devices', file, '--app', other, '--refused', refused]
  expect(await command(args, settings)).toEqual(failed(3, 'remark'))
  const told = await command([...args, '--ignore-columns', 'remark', '--json'], settings)
  expect(outcomeOf(told)).toMatchObject({ code: 4, created: 1, refused: 1 })
  const text = readFileSync(refused, 'utf8')
  const columns = `${head},remark,refusedLine,refusedCode,refusedReason`
  expect(text).toMatch(new RegExp(`^\uFEFF${columns}\r\n${bad},East,360102,nowhere,y,3,10001,.+\r\n$`))
  const { id } = JSON.parse(told.stdout)
  const waited = join(folder, 'waited.csv')
  expect((await command(['import', 'wait', String(id), '--refused', waited], settings)).code).toBe(4)
  expect(readFileSync(waited, 'utf8')).toBe(text)
  writeFileSync(refused, text.replace('nowhere', '"115.9,28.6"'))
  const sent = ['import', 'devices', refused, '--app', other, '--ignore-columns', 'remark', '--json']
  const again = await command([...sent, '--refused', join(folder, 'none.csv')], settings)
  expect(outcomeOf(again)).toMatchObject({ code: 0, created: 1, refused: 0 })
  expect(existsSync(join(folder, 'none.csv'))).toBe(false)
})

test('the result of an import is shown even if its refused rows can’t be saved', async () => {
  const args = ['import', 'inventory', '-', '--refused']
  const rows = 'deviceNo,modelName\nwith space,x\n'
  expect(await command([...args, '-'], settings, rows)).toEqual(failed(2, 'Must be a file'))
  const told = await command([...args, join(folder, 'none', 'refused.csv')], settings, rows)
  expect(told).toEqual({
    code: 1,
    stdout: expect.stringMatching(/^import +\d+\n[\s\S]*line 2: 10001/),
    stderr: expect.stringContaining('does not exist, or its folder does not exist'),
  })
})

test('a file that two encodings read names its own', async () => {
  const serial = newSerial()
  const other = (await newApplication(client)).appId
  // The name is 模 in GB18030 and ģ in UTF-8.
  const file = `${head}\n${serial},ģ,360102,"1,1"\n`
  writeFileSync(join(folder, 'gbk.csv'), file)
  const args = ['import', 'devices', join(folder, 'gbk.csv'), '--app', other]
  expect(await command(args, settings)).toEqual(failed(3, 'specify its encoding'))
  expect(await command([...args, '--charset', 'gb18030'], settings)).toMatchObject({ code: 0 })
  const exported = await command(['export', 'devices', '--app', other, '--filter', `deviceNo=${serial}`], settings)
  expect(exported.stdout).toContain('模')
})

test('a row that is refused for no member of its own is told by what it is refused for', async () => {
  const other = await newApplication(client)
  const [bound = ''] = serials
  const told = await command(['import', 'devices', '-', '--app', other.appId], settings, `${head}\n${rowOf(bound)}\n`)
  expect(told).toEqual({ code: 4, stdout: expect.stringMatching(/^line 2: 20013 \S+/m), stderr: '' })
})

test('an export goes to standard output, or to a file that has its name when it is whole', async () => {
  const filters = ['--app', appId, '--filter', `deviceNo=${serials[0]}`]
  const piped = await command(['export', 'devices', ...filters, '--format', 'ndjson'], settings)
  expect(piped).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(piped.stdout).deviceNo).toBe(serials[0])

  const named = await command(['export', 'devices', ...filters, '--format', 'ndjson', '--output', '-'], settings)
  expect(named).toEqual(piped)

  const output = join(folder, 'out.csv')
  const saved = await command(['export', 'devices', '--app', appId, '--output', output, '--json'], settings)
  expect(outcomeOf(saved)).toMatchObject({ code: 0, file: output })
  expect(readFileSync(output, 'utf8')).toMatch(/^\uFEFF(.*\r?\n){3}$/)
  expect(existsSync(`${output}.partial`)).toBe(false)
  expect(statSync(output).mode & 0o777).toBe(0o600)
  // A symbolic link at the temporary file's path is not followed, and the mode of its target is not taken over.
  const elsewhere = join(folder, 'elsewhere.csv')
  writeFileSync(elsewhere, 'untouched', { mode: 0o644 })
  symlinkSync(elsewhere, `${output}.partial`)
  expect((await command(['export', 'devices', '--app', appId, '--output', output], settings)).code).toBe(0)
  expect([readFileSync(elsewhere, 'utf8'), statSync(output).mode & 0o777]).toEqual(['untouched', 0o600])
})

test('an export replaces neither a device nor a pipe, and of a link the file that it leads to', async () => {
  const place = (name: string) => join(folder, name)
  const exported = (path: string) => command(['export', 'devices', '--app', appId, '--output', path], settings)
  const made =
    spawnSync('mknod', [place('pipe'), 'p']).status === 0 &&
    spawnSync('mknod', [place('null'), 'c', '1', '3']).status === 0
  mkdirSync(place('far'))
  symlinkSync(place('far/new.csv'), place('link.csv'))
  symlinkSync('link.csv', place('chain.csv'))
  for (const name of ['link.csv', 'chain.csv']) {
    expect(await exported(place(name))).toMatchObject({ code: 0 })
    expect([lstatSync(place(name)).isSymbolicLink(), lstatSync(place('far/new.csv')).isFile()]).toEqual([true, true])
    expect(readFileSync(place(name), 'utf8')).toContain('deviceNo')
    rmSync(place('far/new.csv'))
  }
  symlinkSync('loop', place('loop'))
  for (const [name, said] of [
    ['far', 'is a folder'],
    ['loop', ''],
    ...(made
      ? [
          ['pipe', 'is not a file'],
          ['null', 'is not a file'],
        ]
      : []),
  ] as const) {
    const before = lstatSync(place(name))
    const outcome = await exported(place(name))
    expect([outcome.code, outcome.stderr.trim().split('\n').length]).toEqual([1, 1])
    expect(outcome.stderr).toContain(said)
    expect(lstatSync(place(name)).ino).toBe(before.ino)
  }
})

test('what cannot be asked is refused before a byte is written', async () => {
  const none = join(folder, 'none')
  const unknown = await command(['export', 'devices', '--filter', 'deviceno=x', '--output', none], settings)
  expect(unknown).toEqual(failed(3, 'deviceno'))
  expect(existsSync(none)).toBe(false)
  const uses = [
    ['export', 'devices', '--json'],
    ['export', 'devices', '--json', '--output', '-'],
    ['export', 'devices', '--filter', 'status'],
    ['export', 'operators'],
    ['import', 'devices', 'some.csv'],
    ['import', 'devices', folder, '--app', appId],
  ]
  const codes = await Promise.all(uses.map(async (args) => (await command(args, settings)).code))
  expect(codes).toEqual([2, 2, 2, 2, 2, 2])
  const gone = await command(['import', 'inventory', join(folder, 'gone.csv')], settings)
  expect(gone).toEqual(failed(1, /gone\.csv \(ENOENT\)\.\n$/))
})

test('a file that cannot be read to its end is no service that does not answer', async () => {
  const told = await command(['import', 'devices', '/proc/self/mem', '--app', appId], settings)
  expect(told).toEqual({ code: 1, stdout: '', stderr: 'Can’t read /proc/self/mem (EIO).\n' })
})

test('Ctrl-C while a file is sent says that the file can be sent again', async () => {
  // A proxy between the command and the service reports when the first rows have been sent.
  let arrived = () => {}
  const hasArrived = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const between = createServer((request) => request.once('data', arrived)).listen(0, '127.0.0.1')
  await new Promise((resolve) => between.once('listening', resolve))
  const { port } = between.address() as { port: number }
  const elsewhere = { ...settings, FORECOURT_URL: `http://127.0.0.1:${port}` }
  const { child, ended } = startForecourt(['import', 'devices', '-', '--app', appId], elsewhere)
  child.stdin?.write(`${head}\n${rowOf(newSerial())}\n`)
  await hasArrived
  child.kill('SIGINT')
  expect(await ended).toEqual(failed(1, 'Import the file again'))
  between.closeAllConnections()
  between.close()
})

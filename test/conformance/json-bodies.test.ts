import { expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { bearer, client, expectFaults, expectSuccess, post, raw, withRaw } from './support.ts'

const path = createDevice.path
const { appId, token } = await newApplication(client)
/** Sends JSON text as it is written. */
const send = (text: string) => client.call('createDevice', text, { token })

const jsonTypes = [
  ...['application/json', 'application/json; charset=utf-8', 'application/json;charset=UTF-8', 'application/json;'],
  ...['Application/JSON; Charset="utf-8"', 'application/json; charset=utf8', 'application/json; charset="utf8"'],
  ...["application/json; charset='utf-8'", 'application/json ; charset = utf-8', 'application/json; '],
  ...['application/json;;charset=utf-8', 'application/json;charset=UTF-8;odata=verbose'],
  'application/json;odata.metadata=minimal;odata.streaming=true;IEEE754Compatible=false',
  'application/json; profile="https://example.com/a;b"; charset=utf-8',
  ...['application/json; boundary=x', 'application/json; charset=iso-8859-1', 'application/json; charset=gbk'],
  'application/json; charset=utf-16',
]
const otherTypes = [
  ...['text/plain', 'text/json', 'application/jsonp', 'application/json-patch+json', 'application/xml'],
  ...['application/octet-stream', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
  ...['application/json, text/plain', 'application/json+x; charset=utf-8', 'application/json charset=utf-8'],
  ...['application', '*/*'],
]
const typed = (contentType: string) =>
  client.call('createDevice', deviceBody(appId), { token, headers: { 'content-type': contentType } })

test.each(jsonTypes)('the Content-Type %s is application/json', async (contentType) => {
  expectSuccess(await typed(contentType))
})

test.each(otherTypes)('the Content-Type %s is 415 with the envelope', async (contentType) => {
  expectFaults(await typed(contentType), ['Content-Type'], 'invalidRequest', { status: 415 })
})

const brokenJson = [
  ...['', ' ', '{', '}', '{"appId"}', '{"appId":}', '{"appId":"x",}', '{appId:"x"}', '{"appId":"x"', '{"appId":"x}'],
  ...['{"appId":"x"}}', '{"appId":"x"} {}', '{"appId":"x"}//', '{"appId":/**/"x"}', '{"appId":01}', '{"appId":.5}'],
  ...['{"appId":+1}', '{"appId":NaN}', '{"appId":Infinity}', '{"appId":undefined}', '{"appId":"\\x41"}'],
  ...['{"appId":"\\u12"}', '{"appId":"a\nb"}', '{"appId":"a\0b"}', '{"appId":"a\tb"}', '\0', '{"appId":"x"}\0'],
  ...['null,', 'nul', 'appId=x&deviceNo=y', '<appId>x</appId>', '"', '\\', '{"\\":1}'],
]

const noObjects = ['[]', '[{}]', '"text"', '12', 'true', 'false', 'null']

test('a body that is not JSON, or no object, is refused as the body’s fault', async () => {
  for (const body of [...brokenJson, ...noObjects]) expectFaults(await post(path, body, bearer(token)), ['body'])
})

const odd: [string, (body: string) => string][] = [
  ['white space round it', (body) => `\r\n\t ${JSON.stringify(JSON.parse(body), null, 2)}\r\n\t `],
  [
    'colons, quotes and braces inside strings',
    (body) => more(body, `"unknown":${JSON.stringify('{"a":1,"a":2}[[:"\\":')}`),
  ],
  [
    'equal member names in different objects',
    (body) => more(body, '"unknown":{"appId":1,"b":{"appId":2}},"c":[{"a":1},{"a":1}]'),
  ],
  ['an unknown member that nests a little', (body) => more(body, `"unknown":${'['.repeat(10)}${']'.repeat(10)}`)],
  ['control characters and lone surrogates in a name', (body) => more(body, '"\\u0000":1,"\\ud800":2,"":3')],
]
const more = (body: string, members: string) => `${body.slice(0, -1)},${members}}`

test.each(odd)('JSON with %s is taken', async (_, written) => {
  expectSuccess(await send(written(JSON.stringify(deviceBody(appId)))))
})

const invalidUtf8: [string, number[]][] = [
  ['a lone continuation byte', [0x80]],
  ['a byte that UTF-8 never uses', [0xff]],
  ['a sequence that breaks off', [0xe4, 0xb8]],
  ['an overlong NUL', [0xc0, 0x80]],
  ['an overlong slash', [0xe0, 0x80, 0xaf]],
  ['an encoded surrogate', [0xed, 0xa0, 0x80]],
  ['a surrogate pair in CESU-8', [0xed, 0xa1, 0x82, 0xed, 0xbe, 0xb7]],
  ['a character beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
  ['GBK text', [0xb6, 0xab, 0xba, 0xfe]],
]

test.each(invalidUtf8)('a body with %s is not UTF-8 and is refused, not repaired', async (_, bytes) => {
  const [before, after] = JSON.stringify(deviceBody(appId, { tag: raw })).split(raw)
  const body = Buffer.concat([Buffer.from(before as string), Buffer.from(bytes), Buffer.from(after as string)])
  expectFaults(await post(path, new Uint8Array(body), bearer(token)), ['body'])
})

test('an object that names a member twice is refused, at any depth, also with equal values and with escapes', async () => {
  const text = JSON.stringify(deviceBody(appId))
  for (const twice of [
    `${text.slice(0, -1)},"deviceName":"another"}`,
    `${text.slice(0, -1)},"appId":${JSON.stringify(appId)}}`,
    `${text.slice(0, -1)},"\\u0061ppId":"another"}`,
    `${text.slice(0, -1)},"unknown":{"a":1,"a":1}}`,
    `${text.slice(0, -1)},"unknown":[{"a":[{"b":1,"c":2,"b":3}]}]}`,
    `${text.slice(0, -1)},"__proto__":1,"__proto__":2}`,
  ]) {
    expectFaults(await send(twice), ['body'])
  }
})

test('JSON that nests too deep is refused, with arrays and with objects, closed or not, also in an unknown member', async () => {
  const deep = 400_000
  for (const body of [
    '['.repeat(deep),
    '['.repeat(deep) + ']'.repeat(deep),
    `{"entries":${'['.repeat(deep)}${']'.repeat(deep)}}`,
    `${'{"entries":'.repeat(deep)}1${'}'.repeat(deep)}`,
  ]) {
    expectFaults(await client.operate('importDeviceInventory', body), ['body'])
  }
  const within64KiB = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
  expectFaults(await send(within64KiB), ['body'])
  expectFaults(await send(withRaw(deviceBody(appId, { unknown: raw }), within64KiB)), ['body'])
})

test('members that only a __proto__ brings are not given', async () => {
  const required = ['appId', 'deviceNo', 'deviceName', 'districtCode', 'coordinates']
  expectFaults(await send(`{"__proto__":${JSON.stringify(deviceBody(appId))}}`), required)
})

test('numbers beyond every double are refused where text is asked for, and ignored in unknown members', async () => {
  expectFaults(await send(withRaw(deviceBody(appId, { tag: raw }), '1e400')), ['tag'])
  expectSuccess(await send(withRaw(deviceBody(appId, { unknown: raw }), '-1e400')))
})

// That lone surrogates and control characters are refused is in fields.test.ts, whose bodies escape them.
test('a pair of escaped surrogates is one character, and an escaped slash a slash', async () => {
  for (const [written, tag] of [
    ['"\\ud842\\udfb7"', '𠮷'],
    ['"\\u0041\\/"', 'A/'],
  ] as const) {
    expect(expectSuccess(await send(withRaw(deviceBody(appId, { tag: raw }), written))).tag).toBe(tag)
  }
})

test('a compressed body is 415', async () => {
  const headers = { ...bearer(token), 'content-encoding': 'gzip' }
  const answer = await post(path, Bun.gzipSync(JSON.stringify(deviceBody(appId))), headers)
  expectFaults(answer, ['Content-Encoding'], 'invalidRequest', { status: 415 })
})

const batch = (members: string) =>
  client.call('createDevices', `{"devices":[${JSON.stringify(deviceBody(appId))}],${members}}`, { token })

test.each(['x', '东'])('a batch takes 4 MiB of what it ignores beside its list: %s', async (letter) => {
  const body = (pad: string) => JSON.stringify({ devices: [deviceBody(appId)], pad })
  const room = 4 * 1024 * 1024 - Buffer.byteLength(body(''))
  const most = Math.floor(room / Buffer.byteLength(letter))
  const padded = (letters: number) => batch(`"pad":"${letter.repeat(letters)}"`)
  expect((await padded(most)).data).toMatchObject({ results: [{ code: 0 }] })
  expect((await padded(most + 1)).status).toBe(413)
})

test('a long text of escapes is refused: it would hold up everybody while it is read', async () => {
  expectFaults(await batch(`"pad":"${'\\n'.repeat(600_000)}"`), ['body'])
})

test.each(['0', '[]', '{}', '{"a":0}'])('a body has at most 100,000 keys and elements: %s', async (piece) => {
  const padded = (pieces: number) => batch(`"pad":[${Array(pieces).fill(piece)}]`)
  // A list or object counts as itself and as an element of the outer list: 49,000 of them stay under the limit.
  expect((await padded(49_000)).data).toMatchObject({ results: [{ code: 0 }] })
  expectFaults(await padded(100_001), ['body'])
})

test('an object has at most 1,000 members', async () => {
  const own = deviceBody(appId)
  const withMembers = (members: number) => {
    const more = Array.from({ length: members - Object.keys(own).length }, (_, index) => [`m${index}`, 0])
    return send(JSON.stringify({ ...own, ...Object.fromEntries(more) }))
  }
  expectFaults(await withMembers(1001), ['body'])
  expectSuccess(await withMembers(1000))
})

const mark = '\ufeff'

test('a byte-order mark before a body is no part of it, and only one, and only there', async () => {
  const body = deviceBody(appId)
  expect(expectSuccess(await send(mark + JSON.stringify(body)))).toMatchObject({ deviceNo: body.deviceNo })
  // A large body is read in slices.
  const large = JSON.stringify({ ...deviceBody(appId), unknown: 'x'.repeat(40_000) })
  expectSuccess(await send(mark + large))
  for (const broken of [mark, mark + mark + JSON.stringify(deviceBody(appId)), `{${mark}}`]) {
    expectFaults(await send(broken), ['body'])
  }
})

test('a body in another encoding than UTF-8 is refused, whatever its Content-Type says', async () => {
  const text = JSON.stringify(deviceBody(appId, { deviceName: '东门' }))
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
  const gbk = Buffer.from(text.replace('东门', '@@')).map((byte) => (byte === 64 ? 0xb6 : byte))
  for (const [charset, bytes] of [
    ['utf-16', utf16],
    ['gbk', gbk],
  ] as const) {
    const headers = { ...bearer(token), 'content-type': `application/json; charset=${charset}` }
    expectFaults(await client.send(path, { method: 'POST', headers, body: bytes }), ['body'])
  }
})

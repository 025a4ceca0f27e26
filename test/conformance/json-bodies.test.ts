import { expect, test } from 'bun:test'
import { issueToken } from '../../src/applications/tokens/contract.ts'
import { createDevice, createDevices } from '../../src/devices/contract.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { RawConnection } from './raw-connection.ts'
import { bearer, client, expectFaults, expectSuccess, jsonHeaders, post, raw, succeed, withRaw } from './support.ts'

const path = createDevice.path

test.each([
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'Application/JSON; Charset="utf-8"',
  'application/json; charset=utf8',
  'application/json; charset="utf8"',
  "application/json; charset='utf-8'",
  'application/json ; charset = utf-8',
  'application/json;',
  'application/json; ',
  'application/json;;charset=utf-8',
  'application/json;charset=UTF-8;odata=verbose',
  'application/json;odata.metadata=minimal;odata.streaming=true;IEEE754Compatible=false',
  'application/json; profile="https://example.com/a;b"; charset=utf-8',
  'application/json; boundary=x',
  'application/json; charset=iso-8859-1',
  'application/json; charset=gbk',
  'application/json; charset=utf-16',
])('the Content-Type %s is application/json', async (contentType) => {
  const { appId, token } = await newApplication(client)
  await succeed('createDevice', deviceBody(appId), { token, headers: { 'content-type': contentType } })
})

test.each([
  'text/plain',
  'text/json',
  'application/jsonp',
  'application/json-patch+json',
  'application/xml',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json, text/plain',
  'application/json+x; charset=utf-8',
  'application/json charset=utf-8',
  'application',
  '*/*',
])('the Content-Type %s is 415 with the envelope', async (contentType) => {
  const { appId, token } = await newApplication(client)
  const answer = await client.call('createDevice', deviceBody(appId), {
    token,
    headers: { 'content-type': contentType },
  })
  expectFaults(answer, ['Content-Type'], 'invalidRequest', { status: 415 })
})

test('a body without a Content-Type is 415 with the envelope', async () => {
  const { appId, token } = await newApplication(client)
  const body = JSON.stringify(deviceBody(appId))
  const connection = new RawConnection()
  connection.writeHead(path, { authorization: `Bearer ${token}`, 'content-length': String(Buffer.byteLength(body)) })
  connection.write(body)
  expectFaults(await connection.answer(), ['Content-Type'], 'invalidRequest', { status: 415 })
  connection.close()
})

const brokenJson = [
  ...['', ' ', '{', '}', '{"appId"}', '{"appId":}', '{"appId":"x",}', '{appId:"x"}', '{"appId":"x"', '{"appId":"x}'],
  ...['{"appId":"x"}}', '{"appId":"x"} {}', '{"appId":"x"}//', '{"appId":/**/"x"}', '{"appId":01}', '{"appId":.5}'],
  ...['{"appId":+1}', '{"appId":NaN}', '{"appId":Infinity}', '{"appId":undefined}', '{"appId":"\\x41"}'],
  ...['{"appId":"\\u12"}', '{"appId":"a\nb"}', '{"appId":"a\0b"}', '{"appId":"a\tb"}', '\0', '{"appId":"x"}\0'],
  ...['null,', 'nul', 'appId=x&deviceNo=y', '<appId>x</appId>', '"', '\\', '{"\\":1}'],
]

test('a body that is not JSON is refused as the body’s fault', async () => {
  const { token } = await newApplication(client)
  for (const body of brokenJson) expectFaults(await post(path, body, bearer(token)), ['body'])
})

test.each(['[]', '[{}]', '"text"', '12', 'true', 'false', 'null'])(
  'the body %s is JSON but no object, and is refused as the body’s fault',
  async (body) => {
    const { token } = await newApplication(client)
    expectFaults(await post(path, body, bearer(token)), ['body'])
  },
)

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
  const { appId, token } = await newApplication(client)
  await succeed('createDevice', written(JSON.stringify(deviceBody(appId))), { token })
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
  const { appId, token } = await newApplication(client)
  const [before, after] = JSON.stringify(deviceBody(appId, { tag: raw })).split(raw)
  const body = Buffer.concat([Buffer.from(before as string), Buffer.from(bytes), Buffer.from(after as string)])
  expectFaults(await post(path, new Uint8Array(body), bearer(token)), ['body'])
})

test('an object that names a member twice is refused, at any depth, also with equal values and with escapes', async () => {
  const { appId, token } = await newApplication(client)
  const text = JSON.stringify(deviceBody(appId))
  for (const twice of [
    `${text.slice(0, -1)},"deviceName":"another"}`,
    `${text.slice(0, -1)},"appId":${JSON.stringify(appId)}}`,
    `${text.slice(0, -1)},"\\u0061ppId":"another"}`,
    `${text.slice(0, -1)},"unknown":{"a":1,"a":1}}`,
    `${text.slice(0, -1)},"unknown":[{"a":[{"b":1,"c":2,"b":3}]}]}`,
    `${text.slice(0, -1)},"__proto__":1,"__proto__":2}`,
  ]) {
    expectFaults(await client.call('createDevice', twice, { token }), ['body'])
  }
})

test('JSON that nests 400,000 deep is refused, with arrays and with objects, closed or not', async () => {
  const deep = 400_000
  for (const body of [
    '['.repeat(deep),
    '['.repeat(deep) + ']'.repeat(deep),
    `{"entries":${'['.repeat(deep)}${']'.repeat(deep)}}`,
    `${'{"entries":'.repeat(deep)}1${'}'.repeat(deep)}`,
  ]) {
    const answer = await client.operate('importDeviceInventory', body)
    expectFaults(answer, ['body'])
  }
})

test('JSON that nests 30,000 deep within 64 KiB is refused, also in a member that is not known', async () => {
  const { appId, token } = await newApplication(client)
  const tooLarge = await client.call('createDevice', '['.repeat(400_000), { token })
  expectFaults(tooLarge, ['body'], 'invalidRequest', { status: 413 })
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
  expectFaults(await client.call('createDevice', deep, { token }), ['body'])
  expectFaults(await client.call('createDevice', withRaw(deviceBody(appId, { unknown: raw }), deep), { token }), [
    'body',
  ])
})

test('members that only a __proto__ brings are not given', async () => {
  const { appId, token } = await newApplication(client)
  const body = `{"__proto__":${JSON.stringify(deviceBody(appId))}}`
  expectFaults(await client.call('createDevice', body, { token }), [
    'appId',
    'deviceNo',
    'deviceName',
    'districtCode',
    'coordinates',
  ])
})

test('numbers beyond every double are refused where text is asked for, and ignored in unknown members', async () => {
  const { appId, token } = await newApplication(client)
  expectFaults(await client.call('createDevice', withRaw(deviceBody(appId, { tag: raw }), '1e400'), { token }), ['tag'])
  await succeed('createDevice', withRaw(deviceBody(appId, { unknown: raw }), '-1e400'), { token })
})

test('control characters and lone surrogates are refused however they are escaped, and pairs are one character', async () => {
  const { appId, token } = await newApplication(client)
  const send = (written: string) =>
    client.call('createDevice', withRaw(deviceBody(appId, { tag: raw }), written), { token })
  for (const written of [
    '"\\u0000"',
    '"a\\u0000"',
    '"\\t"',
    '"\\n"',
    '"\\b"',
    '"\\u009F"',
    '"\\ud800"',
    '"\\uDFFFa"',
    '"\\udc00\\ud800"',
  ]) {
    expectFaults(await send(written), ['tag'])
  }
  expect(expectSuccess(await send('"\\ud842\\udfb7"')).tag).toBe('𠮷')
  expect(expectSuccess(await send('"\\u0041\\/"')).tag).toBe('A/')
})

test('the token operation refuses broken JSON with the envelope and RFC 6749’s error', async () => {
  const answer = await post(issueToken.path, '{', jsonHeaders)
  expectFaults(answer, ['body'], 'invalidRequest', { beside: ['error', 'error_description'] })
  expect(JSON.parse(answer.text).error).toBe('invalid_request')
})

test('a compressed body is 415', async () => {
  const { appId, token } = await newApplication(client)
  const headers = { ...jsonHeaders, ...bearer(token), 'content-encoding': 'gzip' }
  const answer = await post(path, Bun.gzipSync(JSON.stringify(deviceBody(appId))), headers)
  expectFaults(answer, ['Content-Encoding'], 'invalidRequest', { status: 415 })
})

test.each(['x', '东'])('a batch takes 4 MiB of what it ignores beside its list: %s', async (letter) => {
  const { appId, token } = await newApplication(client)
  const body = (pad: string) => JSON.stringify({ appId, devices: [deviceBody(appId)], pad })
  const room = 4 * 1024 * 1024 - Buffer.byteLength(body(''))
  const most = Math.floor(room / Buffer.byteLength(letter))
  const send = (pad: string) => post(createDevices.path, body(pad), { ...jsonHeaders, ...bearer(token) })
  expect((await send(letter.repeat(most))).data).toMatchObject({ results: [{ code: 0 }] })
  expect((await send(letter.repeat(most + 1))).status).toBe(413)
})

test('a long text of escapes is refused: it would hold up everybody while it is read', async () => {
  const { appId, token } = await newApplication(client)
  const body = `{"appId":"${appId}","devices":[],"pad":"${'\\n'.repeat(600_000)}"}`
  expectFaults(await post(createDevices.path, body, { ...jsonHeaders, ...bearer(token) }), ['body'])
})

test('an object has at most 1,000 members', async () => {
  const { appId, token } = await newApplication(client)
  const own = deviceBody(appId)
  const send = (members: number) => {
    const more = Array.from({ length: members - Object.keys(own).length }, (_, index) => [`m${index}`, 0])
    return client.call('createDevice', { ...own, ...Object.fromEntries(more) }, { token })
  }
  expectFaults(await send(1001), ['body'])
  expectSuccess(await send(1000))
})

test.each(['0', '[]', '{}', '{"a":0}'])('a body has at most 100,000 keys and elements: %s', async (piece) => {
  const { appId, token } = await newApplication(client)
  const send = (pieces: number) => {
    const body = `{"appId":"${appId}","devices":[${JSON.stringify(deviceBody(appId))}],"pad":[${Array(pieces).fill(piece)}]}`
    return post(createDevices.path, body, { ...jsonHeaders, ...bearer(token) })
  }
  // A list or object counts as itself and as an element of the outer list: 49,000 of them stay under the limit.
  expect((await send(49_000)).data).toMatchObject({ results: [{ code: 0 }] })
  expectFaults(await send(100_001), ['body'])
})

const mark = '\ufeff'

test('a byte-order mark before a body is no part of it, and only one, and only there', async () => {
  const { appId, token } = await newApplication(client)
  const body = deviceBody(appId)
  const send = (text: string) => post(path, text, bearer(token))
  expect(expectSuccess(await send(mark + JSON.stringify(body)))).toMatchObject({ deviceNo: body.deviceNo })
  // A large body is read in slices.
  const large = JSON.stringify({ ...deviceBody(appId), unknown: 'x'.repeat(40_000) })
  expectSuccess(await send(mark + large))
  for (const broken of [mark, mark + mark + JSON.stringify(deviceBody(appId)), `{${mark}}`]) {
    expectFaults(await send(broken), ['body'])
  }
})

test('a body in another encoding than UTF-8 is refused, whatever its Content-Type says', async () => {
  const { appId, token } = await newApplication(client)
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

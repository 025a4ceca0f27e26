import { describe, expect, test } from 'bun:test'
import { astral, client, expectFaults, expectSuccess, newBareApplication } from './support.ts'

async function save(callbackUrl: unknown) {
  const { appId, token } = await newBareApplication()
  return client.call('saveThirdPartyConfig', { appId, operatorName: 'Operator', callbackUrl }, { token })
}

const public_ = [
  ...['https://example.com', 'https://example.com/callback', 'https://example.com:8443/a/b?c=d&e=%20'],
  ...['https://sub.domain.example.com.', 'https://EXAMPLE.com/CaSe', 'https://例子.测试/回调', 'https://8.8.8.8/'],
  ...['https://11.0.0.1/', 'https://9.255.255.255/', 'https://100.63.255.255/', 'https://100.128.0.1/'],
  ...['https://126.255.255.255/', 'https://128.0.0.1/', 'https://169.253.255.255/', 'https://169.255.0.1/'],
  ...['https://172.15.255.255/', 'https://172.32.0.1/', 'https://192.167.255.255/', 'https://192.169.0.1/'],
  ...['https://[2606:4700:4700::1111]/', 'https://localhost.example.com/', 'https://10.example.com/'],
]

const notHttps = [
  ...['http://example.com/callback', 'HTTP://example.com', 'ftp://example.com', 'ws://example.com'],
  ...['wss://example.com', 'file:///etc/passwd', 'javascript:alert(1)', 'data:text/plain,x', 'mailto:a@example.com'],
  ...['gopher://example.com'],
]

const notUrls = [
  ...['example.com', '//example.com/x', '/callback', 'https', 'https:', 'https://', 'https:///', 'https://:443/'],
  ...['https://exa mple.com/', 'https://example.com:99999/', 'https://example.com:x/', 'https://[::1'],
  ...['https://[fe80::1%25eth0]/', 'https://256.256.256.256/', 'https://1.2.3.4.5/', 'nonsense'],
  ...['https://user@example.com/', 'https://user:password@example.com/'],
]

/** Loopback, private, link-local and metadata addresses, in every spelling that a URL parser accepts. */
const privateUrls = [
  ...['https://127.0.0.1/', 'https://127.0.0.1:8080/', 'https://127.0.0.1./', 'https://127.255.255.254/'],
  ...['https://127.1/', 'https://127.0.1/', 'https://2130706433/', 'https://017700000001/', 'https://0177.0.0.1/'],
  ...['https://0x7f000001/', 'https://0x7F.0.0.1/', 'https://0x7f.1/', 'https://127.0x0.0.01/'],
  ...['https://%31%32%37.0.0.1/', 'https://１２７.０.０.１/', 'https://127。0。0。1/', 'https://①②⑦.⓪.⓪.①/'],
  ...['https:\\\\127.0.0.1\\', 'https:127.0.0.1', 'https:/127.0.0.1/', ' https://127.0.0.1/', 'https://0/'],
  ...['https://0.0.0.0/', 'https://0.1.2.3/', 'https://10.0.0.1/', 'https://10.255.255.255/', 'https://10.1/'],
  ...['https://167772161/', 'https://100.64.0.1/', 'https://100.127.255.255/'],
  ...['https://169.254.169.254/latest/meta-data/', 'https://169.254.0.1/', 'https://0xa9fea9fe/'],
  ...['https://2852039166/', 'https://172.16.0.1/', 'https://172.31.255.255/', 'https://192.168.0.1/'],
  ...['https://192.168.65535/', 'https://192.0.0.1/', 'https://198.18.0.1/', 'https://224.0.0.1/'],
  ...['https://239.255.255.255/', 'https://240.0.0.1/', 'https://255.255.255.255/', 'https://[::]/'],
  ...['https://[::1]/', 'https://[0:0:0:0:0:0:0:1]/', 'https://[::ffff:127.0.0.1]/', 'https://[::ffff:7f00:1]/'],
  ...['https://[0:0:0:0:0:ffff:10.0.0.1]/', 'https://[::ffff:a9fe:a9fe]/', 'https://[::127.0.0.1]/'],
  ...['https://[64:ff9b::7f00:1]/', 'https://[64:ff9b:1::a00:1]/', 'https://[2002:7f00:1::]/'],
  ...['https://[2002:a9fe:a9fe::1]/', 'https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/', 'https://[fe80::1]/'],
  ...['https://[FEBF::1]/', 'https://[fec0::1]/', 'https://[fc00::1]/', 'https://[fd00:ec2::254]/'],
  ...['https://[fdff:ffff::1]/', 'https://[ff02::1]/', 'https://[2001:db8::1]/', 'https://localhost/'],
  ...['https://LOCALHOST/', 'https://localhost./', 'https://localhost:8443/x', 'https://app.localhost/'],
  ...['https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/', 'https://l%6fcalhost/', 'https://metadata.google.internal/', 'https://metadata/'],
  ...['https://printer.local/', 'https://db.internal./'],
]

describe.skipIf(process.env.FORECOURT_PRIVATE_CALLBACKS === 'allow')('under the default setting', () => {
  test.each(public_)('the callback URL %s is taken and shown as it is sent', async (callbackUrl) => {
    expect(expectSuccess(await save(callbackUrl)).callbackUrl).toBe(callbackUrl)
  })

  test.each(notHttps)('the callback URL %s is refused: it is not https', async (callbackUrl) => {
    const { callbackUrl: reason } = expectFaults(await save(callbackUrl), ['callbackUrl'])
    expect(reason).toContain('https')
  })

  test.each(notUrls)(
    'the callback URL %s is refused: it is no absolute URL without credentials',
    async (callbackUrl) => {
      expectFaults(await save(callbackUrl), ['callbackUrl'])
    },
  )

  test.each(privateUrls)('the callback URL %s is refused: its address is private', async (callbackUrl) => {
    expectFaults(await save(callbackUrl), ['callbackUrl'])
  })
})

test('a callback URL has up to 2048 characters', async () => {
  const longest = `https://example.com/${'x'.repeat(2048 - 20)}`
  expect(expectSuccess(await save(longest)).callbackUrl).toBe(longest)
  expectFaults(await save(`${longest}x`), ['callbackUrl'])
  const inCharacters = `https://example.com/${astral.repeat(2048 - 20)}`
  expect(expectSuccess(await save(inCharacters)).callbackUrl).toBe(inCharacters)
})

test('a callback URL that is absent, null or empty is not given', async () => {
  for (const callbackUrl of [undefined, null, '']) expect(expectSuccess(await save(callbackUrl)).callbackUrl).toBeNull()
})

test('a callback URL is text without control characters', async () => {
  const refused = [
    'https://exa\tmple.com/',
    'https://example.com/\n',
    'https://example.com/\0',
    'https://example.com/\ud800',
  ]
  for (const callbackUrl of [...refused, 5, true, {}, ['https://example.com']]) {
    expectFaults(await save(callbackUrl), ['callbackUrl'])
  }
})

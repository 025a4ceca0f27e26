import { describe, expect, test } from 'bun:test'
import { astral, client, expectFaults, expectSuccess, newBareApplication } from './support.ts'

const save = async (callbackUrl: unknown) =>
  client.call('saveThirdPartyConfig', { operatorName: 'Operator', callbackUrl }, await newBareApplication())

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

/**
 * Loopback, private, link-local and metadata addresses, in some of the spellings that a URL parser accepts. That none of
 * them is connected to, in any spelling, is in src/deliveries/ssrf.test.ts.
 */
const privateUrls = [
  ...['https://127.0.0.1:8080/', 'https://127.1/', 'https://0177.0.0.1/', 'https://0x7F.0.0.1/', 'https://2130706433/'],
  ...['https://%31%32%37.0.0.1/', 'https://１２７.０.０.１/', 'https:\\\\127.0.0.1\\', 'https:/127.0.0.1/'],
  ...['https://0/', 'https://10.255.255.255/', 'https://100.64.0.1/', 'https://169.254.169.254/latest/meta-data/'],
  ...['https://172.31.255.255/', 'https://192.168.0.1/', 'https://198.18.0.1/', 'https://255.255.255.255/'],
  ...['https://[::1]/', 'https://[::ffff:7f00:1]/', 'https://[64:ff9b::7f00:1]/', 'https://[fd00:ec2::254]/'],
  ...['https://LOCALHOST./', 'https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/', 'https://app.localhost/', 'https://metadata.google.internal/'],
  ...['https://metadata/', 'https://printer.local/', 'https://db.internal./'],
]

describe.skipIf(process.env.FORECOURT_PRIVATE_CALLBACKS === 'allow')('under the default setting', () => {
  test.each(public_)('the callback URL %s is taken and shown as it is sent', async (callbackUrl) => {
    expect(expectSuccess(await save(callbackUrl)).callbackUrl).toBe(callbackUrl)
  })

  test.each(notHttps)('the callback URL %s is refused: it is not https', async (callbackUrl) => {
    const { callbackUrl: reason } = expectFaults(await save(callbackUrl), ['callbackUrl'])
    expect(reason).toContain('https')
  })

  test.each([...notUrls, ...privateUrls])(
    'the callback URL %s is refused: it is no absolute URL without credentials, or its address is private',
    async (callbackUrl) => {
      expectFaults(await save(callbackUrl), ['callbackUrl'])
    },
  )
})

test('a callback URL has up to 2048 characters', async () => {
  const longest = `https://example.com/${'x'.repeat(2048 - 20)}`
  expect(expectSuccess(await save(longest)).callbackUrl).toBe(longest)
  expectFaults(await save(`${longest}x`), ['callbackUrl'])
  const inCharacters = `https://example.com/${astral.repeat(2048 - 20)}`
  expect(expectSuccess(await save(inCharacters)).callbackUrl).toBe(inCharacters)
})

test('a callback URL is text without control characters; one that is absent, null or empty is not given', async () => {
  for (const none of [undefined, null, '']) expect(expectSuccess(await save(none)).callbackUrl).toBeNull()
  const faulty = ['\t', '\n', '\0', '\ud800'].map((sign) => `https://example.com/${sign}`)
  for (const callbackUrl of [...faulty, 'https://exa\tmple.com/', 5, true, {}, ['https://example.com']]) {
    expectFaults(await save(callbackUrl), ['callbackUrl'])
  }
})

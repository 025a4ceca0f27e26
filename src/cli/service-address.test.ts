import { expect, test } from 'bun:test'
import { readServiceAddress } from './service-address.ts'

test('the address of the service is read as people paste it', () => {
  for (const [given, read] of [
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    [' http://127.0.0.1:8080///\n', 'http://127.0.0.1:8080'],
    ['HTTPS://Forecourt.Example.com/', 'https://forecourt.example.com'],
    ['https://forecourt.example.com:443', 'https://forecourt.example.com'],
    ['https://forecourt.example.com/console', 'https://forecourt.example.com'],
    ['https://forecourt.example.com/console/devices?appId=a@b#x', 'https://forecourt.example.com'],
    ['https://forecourt.example.com/api/device/entrance/guard/page?pageSize=1', 'https://forecourt.example.com'],
    ['https://forecourt.example.com/docs/', 'https://forecourt.example.com'],
    ['https://example.com/forecourt/console/', 'https://example.com/forecourt'],
    ['https://example.com/forecourt/', 'https://example.com/forecourt'],
    ['https://example.com/api/', 'https://example.com'],
    ['https://example.com/api/forecourt', 'https://example.com/api/forecourt'],
    ['https://example.com/api/forecourt/api/platform/v1/service/detail', 'https://example.com/api/forecourt'],
    ['https://example.com/consoles', 'https://example.com/consoles'],
    ['localhost:8080', 'http://localhost:8080'],
    ['LOCALHOST:8080/console', 'http://localhost:8080'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['[::1]:8080', 'http://[::1]:8080'],
    ['forecourt.example.com', 'https://forecourt.example.com'],
    ['forecourt.example.com:8443/console', 'https://forecourt.example.com:8443'],
  ] as const) {
    expect([given, readServiceAddress(given)]).toEqual([given, read])
  }
})

test('what is no address, or holds more, is refused without its password', () => {
  for (const given of [
    ...['here', '', 'http://', 'http:127.0.0.1', 'ftp://example.com', '10.0.0.1:8080', 'box:8080', '/console'],
    'https:///x y',
    ...['https://user:secret@example.com', 'user:secret@example.com', 'secret@example.com', 'http://u:secret@[::1'],
    ...['https://example.com?x=1', 'https://example.com/#x', 'https://exa mple.com', 'https://example.com:99999'],
  ]) {
    let thrown: unknown
    try {
      thrown = readServiceAddress(given)
    } catch (error) {
      thrown = error
    }
    expect([given, thrown]).toEqual([given, expect.objectContaining({ isUsage: true })])
    expect(String(thrown)).not.toContain('secret')
  }
})

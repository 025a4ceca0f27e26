import { describe, expect, test } from 'bun:test'
import { countFilters } from '../../console/src/ui/filter/filter-count.ts'
import { readUserAgent } from '../../console/src/words/user-agent.ts'

const webKit = 'AppleWebKit/537.36 (KHTML, like Gecko)'

describe('a user agent', () => {
  test.each([
    [`Mozilla/5.0 (X11; Linux x86_64) ${webKit} Chrome/131.0.0.0 Safari/537.36`, 'Chrome 131 · Linux'],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/131.0.0.0 Safari/537.36 Edg/131.0.2`,
      'Edge 131 · Windows',
    ],
    [`Mozilla/5.0 (Linux; Android 14) ${webKit} Chrome/131.0.0.0 Mobile Safari/537.36`, 'Chrome 131 · Android'],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:132.0) Gecko/20100101 Firefox/132.0', 'Firefox 132 · macOS'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Mobile/15E148 Safari/604.1',
      'Safari 17 · iOS',
    ],
    ['curl/8.5.0', 'curl/8.5.0'],
    ['Bun/1.4.5 (something)', 'Bun/1.4.5'],
    ['', ''],
  ])('%s is told as %s', (text, told) => {
    expect(readUserAgent(text)).toBe(told)
  })
})

test('a range of time and a division are one filter each', () => {
  expect(countFilters({ appId: '', deviceNo: '' })).toBe(0)
  expect(countFilters({ deviceNo: 'a', timeFrom: 'x', timeTo: 'y', provinceCode: '36', cityCode: '3601' })).toBe(3)
})

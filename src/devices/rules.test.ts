import { expect, test } from 'bun:test'
import { compareSerials } from './rules.ts'

test('serials are compared as by the bytes of UTF-8, which is how the database sorts them', () => {
  const units = ['', 'A', 'a', 'é', '中', '\ud7ff', '\ue000', 'Ａ', '\uffff', '😀', '𐀀', '\u{10ffff}']
  const serials = units.flatMap((first) => units.map((second) => `S${first}${second}`))
  const inBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))
  for (const one of serials) {
    for (const other of serials) {
      expect([one, other, Math.sign(compareSerials(one, other))]).toEqual([one, other, inBytes(one, other)])
    }
  }
})

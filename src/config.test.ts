import { expect, test } from 'bun:test'
import { readConfig, type Setting, settings } from './config.ts'

// The reference of settings is made from them: what it says of a default must be what is read without one.

test('the default that the reference tells is the one that holds', () => {
  const unset = readConfig({})
  for (const { name, fallback } of Object.values<Setting<unknown>>(settings)) {
    if (fallback !== undefined) expect([name, readConfig({ [name]: fallback })]).toEqual([name, unset])
  }
  const withoutDefault = Object.entries<Setting<unknown>>(settings).filter(([, { fallback }]) => fallback === undefined)
  for (const [member] of withoutDefault)
    expect([member, unset[member as keyof typeof unset]]).toEqual([member, undefined])
})

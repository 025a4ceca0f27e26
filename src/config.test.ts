import { expect, test } from 'bun:test'
import { findUnknownSettings, readConfig, type Setting, settings } from './config.ts'

// The reference of settings is made of these, so a documented default must be the one that is read.

test('the default that the reference tells is the one that holds', () => {
  const unset = readConfig({})
  for (const { name, fallback } of Object.values<Setting<unknown>>(settings)) {
    if (fallback !== undefined) expect([name, readConfig({ [name]: fallback })]).toEqual([name, unset])
  }
  const withoutDefault = Object.entries<Setting<unknown>>(settings).filter(([, { fallback }]) => fallback === undefined)
  for (const [member] of withoutDefault)
    expect([member, unset[member as keyof typeof unset]]).toEqual([member, undefined])
})

test('a public address is an origin', () => {
  for (const [text, origin] of [
    ['https://forecourt.example', 'https://forecourt.example'],
    ['https://forecourt.example/', 'https://forecourt.example'],
    ['https://Forecourt.example:8443', 'https://forecourt.example:8443'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ]) {
    expect(readConfig({ FORECOURT_PUBLIC_URL: text }).publicUrl).toBe(String(origin))
  }
  for (const text of ['https://a@forecourt.example', 'https://forecourt.example?x', 'http://localhost.example', 'x']) {
    expect(() => readConfig({ FORECOURT_PUBLIC_URL: text })).toThrow('FORECOURT_PUBLIC_URL must be https://HOST')
  }
})

test('a variable that no program reads is found, with the setting whose name is nearest', () => {
  const environment = {
    FORECOURT_CALLBACK: 'paused',
    FORECOURT_PRESENCE_SECOND: '5',
    FORECOURT_STATE_DAY: '9',
    FORECOURT_PORT: '1',
    FORECOURT_OPERATOR_KEY_FILE: 'x',
    FORECOURT_URL: 'x',
    PATH: 'x',
  }
  expect(findUnknownSettings(environment)).toEqual([
    { name: 'FORECOURT_CALLBACK', nearest: 'FORECOURT_CALLBACKS' },
    { name: 'FORECOURT_PRESENCE_SECOND', nearest: 'FORECOURT_PRESENCE_SECONDS' },
    { name: 'FORECOURT_STATE_DAY', nearest: 'FORECOURT_STATE_DAYS' },
  ])
})

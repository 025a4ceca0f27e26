import { expect, test } from 'bun:test'
import { findUnknownSettings, readConfig, type Setting, settings, settingsInForce } from './config.ts'

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

test('the settings in force are told as they would be set, and no secret is', () => {
  const secrets = Object.values<Setting<unknown>>(settings).filter(({ isSecret }) => isSecret)
  const hidden = (name: string) =>
    name === 'DATABASE_URL' ? 'postgres://hidden-user:hidden@hidden/x' : `hidden${'-'.repeat(32)}`
  const environment = {
    ...Object.fromEntries(secrets.map(({ name }) => [name, hidden(name)])),
    FORECOURT_PORT: '8081',
    FORECOURT_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
    FORECOURT_REQUIRE_SECOND_FACTOR: 'admin operator',
    FORECOURT_OIDC_ISSUER: 'https://login.example',
    FORECOURT_OIDC_CLIENT_ID: 'forecourt',
    FORECOURT_OIDC_ROLES: 'viewer=*;admin=a,b',
    FORECOURT_PUBLIC_URL: 'https://forecourt.example',
  }
  const shown = settingsInForce(readConfig(environment))
  expect(JSON.stringify(shown)).not.toContain('hidden')
  const of = (name: string) => shown.find((setting) => setting.name === name)
  for (const { name } of secrets) expect(of(name)).toEqual({ name, value: null, isSecret: true, isSet: true })
  expect(of('FORECOURT_PORT')).toEqual({ name: 'FORECOURT_PORT', value: '8081', isSecret: false, isSet: true })
  expect(of('FORECOURT_HOST')?.isSet).toBe(false)
  expect(of('FORECOURT_TRUSTED_PROXIES')?.value).toBe('10.0.0.0/8,::1/128')
  expect(of('FORECOURT_REQUIRE_SECOND_FACTOR')?.value).toBe('admin,operator')
  expect(of('FORECOURT_OIDC_ROLES')?.value).toBe('admin=a,b;viewer=*')
  // What is told can be set again.
  const again = Object.fromEntries(shown.flatMap(({ name, value }) => (value === null ? [] : [[name, value]])))
  expect(settingsInForce(readConfig({ ...environment, ...again }))).toEqual(shown)
})

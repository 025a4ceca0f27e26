import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, findUnknownSettings, readConfig, settings, settingsInForce } from './config.ts'
import type { Setting } from './runtime/setting-values.ts'

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
  for (const text of [
    ...['https://a@forecourt.example', 'https://forecourt.example?x', 'https://forecourt.example/x'],
    ...['http://localhost.example', 'http://forecourt.example', 'http://10.0.0.1:8080', 'forecourt.example', 'x'],
  ]) {
    expect(() => readConfig({ FORECOURT_PUBLIC_URL: text })).toThrow('FORECOURT_PUBLIC_URL must be https://HOST')
  }
})

test('what is not set for signing in is as the contract says', () => {
  expect(readConfig({})).toMatchObject({
    ...{ publicUrl: undefined, oidcIssuer: undefined, oidcClientId: undefined, oidcClientSecret: undefined },
    ...{
      oidcName: 'Single sign-on',
      oidcScopes: 'openid profile',
      oidcRoles: undefined,
      oidcRoleClaim: 'groups',
    },
    ...{ oidcSessionHours: 12, passwords: 'everyone', factorRoles: undefined, signOnSecondFactor: 'provider' },
    confirmSeconds: 600,
  })
})

test('the scopes of single sign-on always hold openid', () => {
  const scopesOf = (text: string) => readConfig({ FORECOURT_OIDC_SCOPES: text }).oidcScopes
  expect(['email', 'profile openid', 'openid', 'roles, email'].map(scopesOf)).toEqual([
    'openid email',
    'openid profile',
    'openid',
    'openid roles email',
  ])
})

test('an issuer is https, or of this machine, and one tenant’s', () => {
  const together = { FORECOURT_OIDC_CLIENT_ID: 'forecourt', FORECOURT_PUBLIC_URL: 'https://forecourt.example' }
  const read = (issuer: string) => readConfig({ ...together, FORECOURT_OIDC_ISSUER: issuer }).oidcIssuer
  for (const issuer of [
    'https://login.example/realms/company',
    'https://login.example/',
    'http://127.0.0.1:8080/realms/x',
    'https://login.microsoftonline.com/0f4a1b9c-2d3e-4f5a-6b7c-8d9e0f1a2b3c/v2.0',
  ]) {
    expect(read(issuer)).toBe(issuer)
  }
  for (const issuer of [
    ...['http://login.example', 'http://localhost.example', 'https://login.example?x', 'https://a@login.example'],
    ...['login.example', 'https://login.microsoftonline.com/common/v2.0'],
    'https://login.microsoftonline.com/organizations/v2.0',
  ]) {
    expect(() => read(issuer)).toThrow('FORECOURT_OIDC_ISSUER must ')
  }
})

test('times of sessions and proofs have bounds', () => {
  for (const [name, member, least, most] of [
    ['FORECOURT_OIDC_SESSION_HOURS', 'oidcSessionHours', 1, 336],
    ['FORECOURT_CONFIRM_SECONDS', 'confirmSeconds', 1, 86_400],
  ] as const) {
    for (const value of [least, most]) expect(readConfig({ [name]: String(value) })[member]).toBe(value)
    for (const value of [least - 1, most + 1]) expect(() => readConfig({ [name]: String(value) })).toThrow(name)
  }
})

test('every secret may be in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'secrets-'))
  const secrets = Object.entries<Setting<unknown>>(settings).filter(([, { isSecret }]) => isSecret)
  expect(secrets.map(([, { name }]) => name)).toContain('FORECOURT_OIDC_CLIENT_SECRET')
  for (const [member, { name }] of secrets) {
    const value = name === 'DATABASE_URL' ? 'postgres://user:secret@host/x' : `a-secret${'-'.repeat(32)}`
    const file = join(folder, name)
    writeFileSync(file, `${value}\n`)
    expect(readConfig({ [`${name}_FILE`]: file })[member as keyof Config] as string).toBe(value)
  }
  rmSync(folder, { recursive: true })
})

test('quotes around a value are no part of it', () => {
  const key = 'k'.repeat(32)
  const environment = { FORECOURT_DATA_DIR: ' "/srv/data" ', FORECOURT_OPERATOR_KEY: `'${key}'`, FORECOURT_PORT: '""' }
  expect(readConfig(environment)).toMatchObject({ dataDir: '/srv/data', operatorKey: key })
  expect(readConfig({ FORECOURT_DATA_DIR: '/srv/"data"' }).dataDir).toBe('/srv/"data"')
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

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../src/config.ts'
import { projectFolder } from './harness.ts'

// docs/settings.md is the reference of settings: each that the service reads, with the default that it has.

const guide = readFileSync(join(projectFolder, 'docs/settings.md'), 'utf8')

/** The settings that are read, in one reading of all of them. */
function settingsRead(): Set<string> {
  const names = new Set<string>()
  readConfig(
    new Proxy<Record<string, string | undefined>>(
      {},
      {
        get: (_, name) => {
          names.add(String(name))
          return undefined
        },
      },
    ),
  )
  return names
}

const rows = [...guide.matchAll(/^\| (`[A-Z].*?) +\| (.*?) +\| .* \|$/gm)].flatMap(([, names = '', fallback = '']) => {
  const fallbacks = fallback.split(', ')
  return [...names.matchAll(/`([A-Z_]+)`/g)].map(([, name = ''], index) => ({
    name,
    fallback: (fallbacks[index] ?? fallback).replaceAll('`', ''),
  }))
})

test('every setting that is read is in the reference, and nothing else', () => {
  expect(rows.map(({ name }) => name).sort()).toEqual([...settingsRead()].sort())
})

test('the defaults of the reference are those of the service', () => {
  const config = readConfig({}) as unknown as Record<string, unknown>
  const values = Object.values(config).map(String)
  for (const { name, fallback } of rows) {
    if (fallback.startsWith('none')) continue
    const given = readConfig({ [name]: fallback }) as unknown as Record<string, unknown>
    expect([name, fallback, given]).toEqual([name, fallback, config])
  }
  expect(values.length).toBeGreaterThan(15)
})

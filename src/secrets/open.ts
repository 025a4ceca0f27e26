import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { makeDataFolder } from '../database/data-folder.ts'
import type { Statements } from '../database/open.ts'
import { sync } from '../embedded/record.ts'
import { UserError } from '../runtime/user-error.ts'
import { idOfKey, newKey, readKey, SecretBox } from './box.ts'
import { lockKey, unlockKey } from './lock.ts'
import { findNotedKey, keysOfSecrets, neededKeys, noteKey, sealAnew } from './store.ts'

export interface SecretsOptions {
  /** Undefined for the file in the data folder. */
  keyFile: string | undefined
  dataDir: string
  /** All processes know the database's password, and no dump holds it. */
  password: string
  log: Pick<Logger, 'info' | 'warn'>
  /** Of a restored backup, in base64: their secrets must be sealed again with the newest key. */
  alsoHeld?: readonly string[]
}

/**
 * With the keys of the setting's file, or of one that is created in the data folder: those processes share a key
 * through the database, locked with its password. Throws if a key that the database needs is missing: this process and
 * others could not open each other's secrets. Seals again what an older key sealed.
 */
export async function openSecrets(sql: Statements, options: SecretsOptions, isRetry = false): Promise<SecretBox> {
  const path = options.keyFile ?? join(options.dataDir, 'secrets.key')
  if (options.keyFile === undefined) await prepareKeyFile(sql, options, path)
  const [first, ...others] = readKeyFile(path)
  const box = new SecretBox([first, ...others, ...alsoHeldBy(options)])
  const missing = (await neededKeys(sql)).find((keyId) => !box.keyIds.includes(keyId))
  if (missing !== undefined) {
    // Another process may have stored its own key first, which this one can share.
    if (options.keyFile === undefined && !isRetry) return openSecrets(sql, options, true)
    throw missingKey(missing, `which ${path} does not hold`)
  }
  if (options.keyFile === undefined && options.password === '') {
    options.log.warn(
      'database has no password, so anyone with a dump can decrypt the callback secrets; set FORECOURT_SECRETS_KEY_FILE',
    )
  }
  const locked = options.keyFile === undefined ? lockKey(first.toString('base64'), options.password) : null
  if (!(await noteKey(sql, box, locked))) return openSecrets(sql, options)
  const renewed = await sealAnew(sql, box)
  if (renewed > 0)
    options.log.info(
      { keyId: box.keyId, configurations: renewed },
      'callback secrets re-encrypted with the current key',
    )
  return box
}

/** Throws `UserError` if a start would lack a key that the database needs. Writes nothing. */
export async function requireKeys(sql: Statements, options: Omit<SecretsOptions, 'log'>): Promise<{ path: string }> {
  const path = options.keyFile ?? join(options.dataDir, 'secrets.key')
  const isThere = options.keyFile !== undefined || existsSync(path)
  const held = isThere ? new SecretBox(readKeyFile(path)).keyIds : []
  const missing = (await neededKeys(sql)).find((keyId) => !held.includes(keyId))
  if (missing === undefined) return { path }
  const noted = options.keyFile === undefined ? await findNotedKey(sql) : undefined
  if (noted?.keyId === missing && noted.lockedKey && unlockKey(noted.lockedKey, options.password)) return { path }
  throw missingKey(missing, isThere ? `which ${path} does not hold` : `and ${path} is not there`)
}

/** The file gets the key that the database's processes share. */
async function prepareKeyFile(sql: Statements, options: SecretsOptions, path: string): Promise<void> {
  const { dataDir, password } = options
  const alsoHeld = alsoHeldBy(options).map(idOfKey)
  // `needed` before `noted`: a first key that another process stores between the two reads is then found.
  const needed = (await neededKeys(sql)).find((keyId) => !alsoHeld.includes(keyId))
  const noted = await findNotedKey(sql)
  const isThere = existsSync(path)
  if (noted !== undefined && isThere && new SecretBox(readKeyFile(path)).keyIds.includes(noted.keyId)) return
  const shared = noted?.lockedKey ? unlockKey(noted.lockedKey, password) : undefined
  if (shared !== undefined) writeKeyFile(dataDir, path, isThere ? [shared, readFileSync(path, 'utf8')] : [shared])
  if (shared !== undefined || isThere) return
  if (needed !== undefined) throw missingKey(needed, `and ${path} is not there`)
  writeKeyFile(dataDir, path, [newKey()])
}

const alsoHeldBy = ({ alsoHeld = [] }: SecretsOptions) => alsoHeld.map((key) => Buffer.from(key, 'base64'))

/** Creates none. */
export function findKeys({ keyFile, dataDir }: Pick<SecretsOptions, 'keyFile' | 'dataDir'>): Map<string, Buffer> {
  const path = keyFile ?? join(dataDir, 'secrets.key')
  const keys = keyFile === undefined && !existsSync(path) ? [] : readKeyFile(path)
  return new Map(keys.map((key) => [idOfKey(key), key]))
}

/** Returns the keys themselves (base64) only if the settings name no file. Throws `UserError` if one is missing. */
export async function exportKeys(
  sql: Statements,
  { keyFile, dataDir, password }: Pick<SecretsOptions, 'keyFile' | 'dataDir' | 'password'>,
): Promise<{ keyIds: string[]; keys: string[] }> {
  const keyIds = await keysOfSecrets(sql)
  const noted = await findNotedKey(sql)
  const isNamed = noted?.lockedKey === null
  if (isNamed || keyIds.length === 0) return { keyIds, keys: [] }
  const held = findKeys({ keyFile, dataDir })
  const shared = noted?.lockedKey && unlockKey(noted.lockedKey, password)
  if (shared) held.set(noted.keyId, Buffer.from(shared, 'base64'))
  const keys = keyIds.map((keyId) => {
    const key = held.get(keyId)
    if (key === undefined) throw missingKey(keyId, `which ${join(dataDir, 'secrets.key')} does not hold`)
    return key.toString('base64')
  })
  return { keyIds, keys }
}

function missingKey(keyId: string, where: string): UserError {
  return new UserError(
    `The callback secrets in the database are encrypted with the key ${keyId}, ${where}: ` +
      'all processes that use this database need the same file in FORECOURT_SECRETS_KEY_FILE.',
  )
}

/** One on each line. The first key encrypts. */
function readKeyFile(path: string): [Buffer, ...Buffer[]] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (fault) {
    throw new UserError(`Can’t read the encryption key file ${path} (${codeOf(fault)}).`)
  }
  const lines = text.split('\n').map((line, index) => ({ written: line.trim(), number: index + 1 }))
  const [first, ...others] = lines
    .filter(({ written }) => written !== '')
    .map(({ written, number }) => {
      const key = readKey(written)
      if (key !== undefined) return key
      throw new UserError(`Line ${number} of ${path} must be a key: 32 bytes as base64 or hexadecimal.`)
    })
  if (first === undefined) throw new UserError(`The encryption key file ${path} is empty.`)
  return [first, ...others]
}

/** Writes the key file as a whole and durably, unless another process has written it first. */
function writeKeyFile(dataDir: string, path: string, lines: string[]): void {
  const draft = `${path}.${process.pid}`
  try {
    makeDataFolder(dataDir)
    writeFileSync(draft, `${lines.join('\n')}\n`, { mode: 0o600 })
    sync(draft)
    if (lines.length > 1) renameSync(draft, path)
    else makeOnce(draft, path)
    sync(dataDir)
  } catch (fault) {
    throw new UserError(
      `Can’t create an encryption key in ${dataDir} (${codeOf(fault)}). Set FORECOURT_SECRETS_KEY_FILE.`,
    )
  }
}

function makeOnce(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (fault) {
    if (codeOf(fault) !== 'EEXIST') throw fault
  } finally {
    rmSync(draft)
  }
}

function codeOf(fault: unknown): string | undefined {
  return (fault as NodeJS.ErrnoException).code
}

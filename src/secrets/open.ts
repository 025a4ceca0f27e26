import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { sync } from '../database/embedded/record.ts'
import type { Sql } from '../database/open.ts'
import { StartError } from '../database/start-error.ts'
import { newKey, readKey, SecretBox } from './box.ts'
import { neededKeys, noteKey, sealAnew } from './store.ts'

/**
 * The box for callback secrets, with the keys of the setting's file or of one that is made in the data folder. Refuses
 * to start without a key that the database needs: a process with a key of its own could not sign what others made, nor
 * they what it made. Seals anew what an older key sealed.
 */
export async function openSecrets(sql: Sql, config: Config, log: Logger): Promise<SecretBox> {
  const path = config.secretsKeyFile ?? join(config.dataDir, 'secrets.key')
  const needed = await neededKeys(sql)
  if (config.secretsKeyFile === undefined && !existsSync(path)) {
    const [keyId] = needed
    if (keyId !== undefined) throw missingKey(keyId, `and ${path} is not there`)
    makeKeyFile(config.dataDir, path)
  }
  const box = new SecretBox(readKeyFile(path))
  const missing = needed.find((keyId) => !box.keyIds.includes(keyId)) ?? (await noteKey(sql, box))
  if (missing !== undefined) throw missingKey(missing, `which ${path} does not hold`)
  const renewed = await sealAnew(sql, box)
  if (renewed > 0)
    log.info({ keyId: box.keyId, configurations: renewed }, 'callback secrets were sealed with a new key')
  return box
}

function missingKey(keyId: string, where: string): StartError {
  return new StartError(
    `The callback secrets in the database are encrypted with the key ${keyId}, ${where}: ` +
      'give every process on this database the same file, with FORECOURT_SECRETS_KEY_FILE.',
  )
}

/** The keys of a file, one a line. The first is written with. */
function readKeyFile(path: string): [Buffer, ...Buffer[]] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (fault) {
    throw new StartError(`The file ${path} with the key for secrets cannot be read (${codeOf(fault)}).`)
  }
  const lines = text.split('\n').map((line, index) => ({ written: line.trim(), number: index + 1 }))
  const [first, ...others] = lines
    .filter(({ written }) => written !== '')
    .map(({ written, number }) => {
      const key = readKey(written)
      if (key !== undefined) return key
      throw new StartError(`Line ${number} of ${path} must be a key: 32 bytes as base64 or hexadecimal.`)
    })
  if (first === undefined) throw new StartError(`The file ${path} with the key for secrets is empty.`)
  return [first, ...others]
}

/** Makes the file as a whole and durably, unless another process is quicker: secrets are worth no more than it. */
function makeKeyFile(dataDir: string, path: string): void {
  const draft = `${path}.${process.pid}`
  try {
    mkdirSync(dataDir, { recursive: true })
    writeFileSync(draft, `${newKey()}\n`, { mode: 0o600 })
    sync(draft)
    try {
      linkSync(draft, path)
    } catch (fault) {
      if (codeOf(fault) !== 'EEXIST') throw fault
    } finally {
      rmSync(draft)
    }
    sync(dataDir)
  } catch (fault) {
    throw new StartError(
      `No key for secrets can be made in ${dataDir} (${codeOf(fault)}): name a file with FORECOURT_SECRETS_KEY_FILE.`,
    )
  }
}

function codeOf(fault: unknown): string | undefined {
  return (fault as NodeJS.ErrnoException).code
}

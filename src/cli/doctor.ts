import { existsSync } from 'node:fs'
import { type Config, findUnknownSettings, readConfig } from '../config.ts'
import { placeOf } from '../database/open.ts'
import { findRunning } from '../embedded/command-database.ts'
import { lockHolder } from '../embedded/instance-lock.ts'
import { readRecord } from '../embedded/record.ts'
import { openProvider } from '../people/sign-on/provider.ts'
import { UserError } from '../runtime/user-error.ts'
import { version } from '../runtime/version.ts'
import { lookAtDisk, lookIntoDatabase } from './doctor-database.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import { findPortUse } from './listeners.ts'

/** Checks everything that a service with these settings depends on. Changes and starts nothing. */
export async function examine(environment: Record<string, string | undefined>): Promise<Finding[]> {
  let config: Config
  try {
    config = readConfig(environment)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const wrong = fail('settings', error.message, 'Correct it: docs/guides/en/settings.md lists all settings.')
    return [lookAtProgram(), wrong, ...lookForUnknown(environment)]
  }
  const settings = [lookAtSettings(config), ...lookForUnknown(environment)]
  const findings = [
    ...[lookAtProgram(), ...settings, await lookAtPort(config)],
    ...[...(await lookAtSignOn(config)), lookAtFolder(config)],
  ]
  const target = config.databaseUrl ?? findRunning(config.dataDir)?.owner
  const found = target === undefined ? [lookAtStopped(config)] : await lookIntoDatabase(config, target)
  const hasDisk = found.some(({ name }) => name === 'disk')
  return [...findings, ...found, ...(hasDisk ? [] : [lookAtDisk(config, null)])]
}

function lookAtProgram(): Finding {
  const runtime = process.versions.bun === undefined ? `Node ${process.versions.node}` : `Bun ${process.versions.bun}`
  const message = `Forecourt ${version} on ${runtime}`
  if (process.getuid?.() !== 0) return ok('program', message)
  return warn('program', `${message}, running as root`, 'Start the service as a user of its own (SECURITY.md).')
}

function lookAtSettings({ host, port, workers, databaseUrl, timeZone, trustedProxies }: Config): Finding {
  const place = databaseUrl === undefined ? 'embedded database' : placeOf(databaseUrl)
  const message = `${host}:${port}, ${workers} ${workers === 1 ? 'process' : 'processes'}, ${place}, ${timeZone}`
  if (trustedProxies !== undefined || /^(127\.|::1$|localhost$)/.test(host)) return ok('settings', message)
  return warn(
    'settings',
    `${message}; other machines reach it, and it trusts no proxy`,
    'If proxies are in front of it, name them in FORECOURT_TRUSTED_PROXIES, or every caller seems to have the proxy’s address.',
  )
}

function lookForUnknown(environment: Record<string, string | undefined>): Finding[] {
  return findUnknownSettings(environment).map(({ name, nearest }) =>
    warn(
      'settings',
      `${name} is not a setting`,
      `The nearest one is ${nearest}: docs/guides/en/settings.md lists all settings.`,
    ),
  )
}

async function lookAtPort({ host, port, dataDir, databaseUrl }: Config): Promise<Finding> {
  if (port === 0) return ok('port', 'FORECOURT_PORT is 0: each start picks a free port')
  const place = `${host}:${port}`
  const use = await findPortUse(host, port)
  switch (use.kind) {
    case 'free':
      return warn('port', `no program listens on ${place}: the service is not running`, 'Start it: forecourt serve.')
    case 'forbidden':
      return fail(
        'port',
        `this user is not permitted to listen on ${place}`,
        'Set FORECOURT_PORT to a port above 1023.',
      )
    case 'unusable':
      return fail(
        'port',
        `listening on ${place} is not possible (${use.reason})`,
        'Set FORECOURT_HOST to an address of this machine.',
      )
    case 'other':
      return fail(
        'port',
        `${place} is taken by ${use.program ?? 'another program'}`,
        'Stop that program, or set FORECOURT_PORT to another port.',
      )
    default: {
      const { isReady, failing, workers } = use
      if (!isReady) {
        const which = failing.length > 0 ? `: ${failing.join(', ')}` : ''
        return fail(
          'port',
          `the service on ${place} is not ready${which}`,
          'See the other findings, and the service’s log.',
        )
      }
      if (workers !== undefined && workers.serving < workers.wanted) {
        const told = `${workers.serving} of ${workers.wanted} processes serve on ${place}`
        return warn('port', told, 'The log says why the others ended.')
      }
      if (databaseUrl === undefined && lockHolder(dataDir) === undefined) {
        return warn(
          'port',
          `a service answers on ${place}, but it does not use the data folder ${dataDir}`,
          'Set FORECOURT_DATA_DIR to its data folder, or FORECOURT_PORT to the port of your service.',
        )
      }
      return ok('port', `the service answers on ${place} and is ready`)
    }
  }
}

/** Asks the provider of single sign-on for its metadata and keys; returns nothing for a service without one. */
async function lookAtSignOn(config: Config): Promise<Finding[]> {
  const provider = openProvider(config)
  if (provider === undefined) return []
  const issuer = config.oidcIssuer ?? ''
  try {
    await provider.discover()
    const { keys } = await provider.findKeys()
    const message = `${issuer} answers, with ${keys.length} ${keys.length === 1 ? 'key' : 'keys'}`
    if (keys.length > 0) return [ok('sign-on', `${message}; its redirect address is ${provider.redirectUri}`)]
    return [fail('sign-on', message, 'Find out at the provider why it publishes no keys.')]
  } catch (error) {
    const { message } = error as Error
    return [
      fail(
        'sign-on',
        `${issuer}: ${message}`,
        'Check that FORECOURT_OIDC_ISSUER is exactly the issuer in the provider’s tokens, and that this machine can reach it. Sign-in by password still works.',
      ),
    ]
  }
}

function lookAtFolder({ dataDir, databaseUrl }: Config): Finding {
  if (!existsSync(dataDir)) {
    return ok('data folder', `${dataDir} does not exist yet; the first start creates it`)
  }
  const holder = lockHolder(dataDir)
  if (holder !== undefined) return ok('data folder', `${dataDir} is in use by process ${holder}`)
  return ok('data folder', `${dataDir}${databaseUrl === undefined ? ' is used by no process' : ''}`)
}

function lookAtStopped({ dataDir }: Config): Finding {
  if (readRecord(dataDir) === undefined) return ok('database', 'there is no database yet; the first start creates it')
  return warn(
    'database',
    'the embedded database runs only while the service runs, so it was not checked',
    'Start the service (forecourt serve), and run doctor again.',
  )
}

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

/** Changes and starts nothing. */
export async function examine(environment: Record<string, string | undefined>): Promise<Finding[]> {
  let config: Config
  try {
    config = readConfig(environment)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const wrong = fail('settings', error.message, 'Correct the setting. All settings: docs/guides/en/settings.md.')
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
  return warn('program', `${message}, running as root`, 'Run the service as a dedicated user (SECURITY.md).')
}

function lookAtSettings({ host, port, workers, databaseUrl, timeZone, trustedProxies }: Config): Finding {
  const place = databaseUrl === undefined ? 'embedded database' : placeOf(databaseUrl)
  const message = `${host}:${port}, ${workers} ${workers === 1 ? 'process' : 'processes'}, ${place}, ${timeZone}`
  if (trustedProxies !== undefined || /^(127\.|::1$|localhost$)/.test(host)) return ok('settings', message)
  return warn(
    'settings',
    `${message}; reachable from other machines, with no trusted proxy`,
    'If the service runs behind a proxy, set FORECOURT_TRUSTED_PROXIES. Otherwise all callers appear with the proxy’s address.',
  )
}

function lookForUnknown(environment: Record<string, string | undefined>): Finding[] {
  return findUnknownSettings(environment).map(({ name, nearest }) =>
    warn('settings', `unknown setting ${name}`, `Did you mean ${nearest}? All settings: docs/guides/en/settings.md.`),
  )
}

async function lookAtPort({ host, port, dataDir, databaseUrl }: Config): Promise<Finding> {
  if (port === 0) return ok('port', 'FORECOURT_PORT is 0: the service picks a free port at each start')
  const place = `${host}:${port}`
  const use = await findPortUse(host, port)
  switch (use.kind) {
    case 'free':
      return warn('port', `nothing is listening on ${place}: the service isn’t running`, 'Start it: forecourt serve.')
    case 'forbidden':
      return fail('port', `this user may not listen on ${place}`, 'Set FORECOURT_PORT to a port above 1023.')
    case 'unusable':
      return fail(
        'port',
        `can’t listen on ${place} (${use.reason})`,
        'Set FORECOURT_HOST to an address of this machine.',
      )
    case 'other':
      return fail(
        'port',
        `${place} is used by ${use.program ?? 'another program'}`,
        'Stop that program, or set FORECOURT_PORT to another port.',
      )
    default: {
      const { isReady, failing, workers } = use
      if (!isReady) {
        const which = failing.length > 0 ? `: ${failing.join(', ')}` : ''
        return fail(
          'port',
          `the service on ${place} is not ready${which}`,
          'Check the other results and the service’s log.',
        )
      }
      if (workers !== undefined && workers.serving < workers.wanted) {
        const told = `only ${workers.serving} of ${workers.wanted} workers are running on ${place}`
        return warn('port', told, 'Check the log to see why the others stopped.')
      }
      if (databaseUrl === undefined && lockHolder(dataDir) === undefined) {
        return warn(
          'port',
          `a Forecourt service runs on ${place}, but with another data folder than ${dataDir}`,
          'Set FORECOURT_DATA_DIR to its data folder, or FORECOURT_PORT to the port of your service.',
        )
      }
      return ok('port', `the service on ${place} is ready`)
    }
  }
}

async function lookAtSignOn(config: Config): Promise<Finding[]> {
  const provider = openProvider(config)
  if (provider === undefined) return []
  const issuer = config.oidcIssuer ?? ''
  try {
    await provider.discover()
    const { keys } = await provider.findKeys()
    const message = `${issuer} responds, with ${keys.length} ${keys.length === 1 ? 'key' : 'keys'}`
    if (keys.length > 0) return [ok('sign-on', `${message}; redirect URI: ${provider.redirectUri}`)]
    return [fail('sign-on', message, 'Check at the identity provider why it publishes no keys.')]
  } catch (error) {
    const { message } = error as Error
    return [
      fail(
        'sign-on',
        `${issuer}: ${message}`,
        'Check that FORECOURT_OIDC_ISSUER exactly matches the issuer in the identity provider’s tokens and that this machine can reach it. Signing in with a password still works.',
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
  return ok('data folder', `${dataDir}${databaseUrl === undefined ? ' is not in use' : ''}`)
}

function lookAtStopped({ dataDir }: Config): Finding {
  if (readRecord(dataDir) === undefined) return ok('database', 'no database yet; the first start creates it')
  return warn(
    'database',
    'not checked: the embedded database runs only while the service runs',
    'Start the service (forecourt serve) and run doctor again.',
  )
}

import { readConfig } from '../../src/config.ts'
import { prepareDatabase } from '../../src/process/start.ts'
import { openLog } from '../../src/runtime/log.ts'
import { UserError } from '../../src/runtime/user-error.ts'
import { isLong } from '../kit/scale.ts'
import { type Ended, runServiceToItsEnd } from '../kit/service.ts'

/** Whether a test of many starts has a process for each: in the gate, each would take longer than what is tested. */
export const hasProcesses = isLong || process.env.FORECOURT_TEST_RUNTIME === 'node'

/**
 * The end of a start on the database that `env` names: of a process, or, in the gate, of the part of a start that
 * connects and migrates, which then ends with 0 where a service would go on.
 */
export async function endOfStart(dataDir: string, env: Record<string, string>): Promise<Ended> {
  if (hasProcesses) return runServiceToItsEnd({ dataDir, env })
  try {
    const config = readConfig(env)
    if (config.databaseUrl === undefined) throw new Error('the test names no database')
    await prepareDatabase(config, openLog('silent'), { owner: config.databaseUrl }, new AbortController().signal)
    return { code: 0, stdout: '', stderr: '' }
  } catch (error) {
    if (error instanceof UserError) return { code: 1, stdout: '', stderr: `${error.message}\n` }
    throw error
  }
}

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Runs test files by the test runner, side by side in a few processes, the longest first. Answers its exit code. More
 * than the processors of a small machine by default, because tests wait more than they work; fewer where each service is
 * several processes.
 */
export function bunTest(options: string[], env: Record<string, string>): number {
  const byDefault = process.env.FORECOURT_TEST_WORKERS === undefined ? 4 : 2
  const sideBySide = `--parallel=${process.env.FORECOURT_TEST_SIDE_BY_SIDE ?? byDefault}`
  const ours = ['--timeout', '120000', sideBySide, '--no-isolate', '--timings=test/timings.json']
  const { status } = spawnSync('bun', ['test', ...ours, ...options], {
    cwd: join(import.meta.dirname, '..'),
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  return status ?? 1
}

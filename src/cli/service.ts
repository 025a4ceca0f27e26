import type { CliCommand } from './command.ts'
import { type Context, exitCodes } from './context.ts'
import type { Finding } from './finding.ts'

export function serviceCommands(program: CliCommand, context: Context): void {
  program
    .command('serve')
    .summary('runs the service')
    .description(
      'Runs the service until SIGTERM or SIGINT. Settings come from the environment (docs/settings.md). Without DATABASE_URL, it runs its own PostgreSQL in FORECOURT_DATA_DIR.',
    )
    .example('serve')
    .action(async () => {
      context.outlivesReader = true
      const { runService } = await import('../process/start.ts')
      await runService(context.environment)
      // The service ends the process itself, so this command never returns.
      await new Promise(() => {})
    })

  program
    .command('doctor')
    .summary('check the service and suggest fixes')
    .description(
      'Checks everything that the service depends on: settings, port, data folder, database (permissions, durability, replication, clock), schema, disk, backups, callbacks, encryption key and identity provider. Changes nothing. Exits with 1 if a check fails.',
    )
    .example('doctor')
    .example('doctor --json | jq ".checks[] | select(.status != \\"ok\\")"')
    .action(async () => {
      const { examine } = await import('./doctor.ts')
      const checks = await examine(context.environment)
      const count = (status: Finding['status']) => checks.filter((finding) => finding.status === status).length
      const failed = count('fail')
      context.result(
        { ok: failed === 0, checks },
        `${showFindings(checks, context)}\n${failed} failed, ${count('warn')} warnings`,
      )
      if (failed > 0) context.exitCode = exitCodes.failed
    })
}

const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const

function showFindings(findings: Finding[], context: Context): string {
  const width = Math.max(...findings.map(({ name }) => name.length))
  const lines = findings.map(({ name, status, message, todo }) => {
    const line = `${context.coloured(colours[status], status.padEnd(4))}  ${name.padEnd(width)}  ${message}`
    return todo === null ? line : `${line}\n${' '.repeat(width + 8)}${context.coloured('bold', todo)}`
  })
  return lines.join('\n')
}

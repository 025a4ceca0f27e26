import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'

/** The commands about the program itself: its reference page and completion. */
export function documentCommands(program: CliCommand, context: Context): void {
  program
    .command('openapi')
    .summary('prints the OpenAPI document of this version')
    .description('Prints the OpenAPI document of this version, as the service answers it at /openapi.json.')
    .example('openapi > openapi.json')
    .action(async () => {
      const [{ openApiDocument }, { api }] = await Promise.all([
        import('../reference/openapi.ts'),
        import('../reference/api.ts'),
      ])
      const document = openApiDocument(api)
      context.result(document, JSON.stringify(document, null, 2))
    })
}

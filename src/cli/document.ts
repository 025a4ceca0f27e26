import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'

export function documentCommands(program: CliCommand, context: Context): void {
  program
    .command('openapi')
    .summary('print the OpenAPI document')
    .description('Prints this version’s OpenAPI document, the same as /openapi.json.')
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

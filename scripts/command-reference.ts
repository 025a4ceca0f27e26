import type { Option } from 'commander'
import type { CliCommand } from '../src/cli/command.ts'

/** The page of all commands, made from their help. */
export function commandReference(program: CliCommand): string {
  const sections = (program.commands as CliCommand[]).map((command) => sectionOf(command, 2))
  return `# The command line

\`npx forecourt COMMAND\` where the package is installed, \`npm run --silent forecourt -- COMMAND\` in a checkout.
\`forecourt COMMAND --help\` prints the same: this page is made from the program.

Commands that run or maintain the service read its [settings](settings.md) from the environment. Commands that call its API take
its address and an operator key; process lists do not show a key from the environment or a file.
\`delivery replay\`, \`refusals\` and \`listen\` also take an application's id and secret.

Options of every command:

${optionsOf(program)}

Results go to standard output, remarks and errors to standard error. With \`--json\`, standard output holds one JSON value
with the result, also when the exit code is 1 or 4, and nothing when there is no result. \`listen\` and \`demo\` run until
Ctrl-C and print it at the end.

| exit code | means |
| --- | --- |
| 0 | done |
| 1 | failed |
| 2 | wrong usage |
| 3 | refused by the service: its code and message are on standard error |
| 4 | done, but some rows were refused |

${sections.join('\n')}`
}

function sectionOf(command: CliCommand, level: number): string {
  const children = command.commands as CliCommand[]
  const below = children.map((child) => sectionOf(child, level + 1))
  const options = command.options.length > 0 ? `${optionsOf(command)}\n\n` : ''
  const usage = children.length > 0 ? '' : `\`${command.path} ${command.usage()}\`\n\n`
  const examples = command.examples.map(({ line, what }) => `${what ? `# ${what}\n` : ''}forecourt ${line}`)
  const shown = examples.length > 0 ? `\`\`\`sh\n${examples.join('\n')}\n\`\`\`\n` : ''
  const title = command.path.replace(/^forecourt /, '')
  return `${'#'.repeat(level)} ${title}\n\n${command.description()}\n\n${usage}${options}${shown}${below.map((text) => `\n${text}`).join('')}`
}

function optionsOf(command: CliCommand): string {
  return command.options.map((option) => `- \`${option.flags}\`: ${descriptionOf(option)}`).join('\n')
}

function descriptionOf({ description, argChoices, defaultValue }: Option): string {
  const choices = argChoices === undefined ? '' : ` (${argChoices.join(', ')})`
  return `${description}${choices}${defaultValue === undefined ? '' : ` (default: ${defaultValue})`}`
}

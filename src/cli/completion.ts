import type { Option } from 'commander'
import { Argument } from 'commander'
import type { CliCommand } from './command.ts'
import type { Context } from './context.ts'

const shells = { bash, zsh, fish } as const
type Shell = keyof typeof shells

const installed: Record<Shell, string> = {
  bash: 'forecourt completion bash > ~/.local/share/bash-completion/completions/forecourt',
  zsh: 'forecourt completion zsh > "$fpath[1]/_forecourt"',
  fish: 'forecourt completion fish > ~/.config/fish/completions/forecourt.fish',
}

export function completionCommands(program: CliCommand, context: Context): void {
  program
    .command('completion')
    .summary('prints a completion script for a shell')
    .description('Prints a script that completes commands, options and values in your shell.')
    .addArgument(new Argument('<shell>').choices(Object.keys(shells)))
    .example('completion bash > ~/.local/share/bash-completion/completions/forecourt')
    .example('completion zsh > "$fpath[1]/_forecourt"')
    .example('completion fish > ~/.config/fish/completions/forecourt.fish')
    .example('completion fish | source', 'only this shell; in bash: eval "$(forecourt completion bash)"')
    .action((shell: Shell) => {
      const script = shells[shell](nodesOf(program, program.options))
      context.result({ shell, script, install: installed[shell] }, script)
    })
}

interface Node {
  path: string
  commands: { name: string; description: string }[]
  values: string[]
  options: { flag: string; description: string; values: string[]; takesValue: boolean }[]
}

function nodesOf(command: CliCommand, everywhere: readonly Option[], path = ''): Node[] {
  const children = command.commands as CliCommand[]
  const own = command.parent === null ? [] : command.options
  const options = [...own, ...everywhere].map((option) => ({
    flag: option.long ?? option.flags,
    description: option.description,
    values: option.argChoices ?? [],
    takesValue: option.required || option.optional,
  }))
  const node = {
    path,
    commands: children.map((child) => ({ name: child.name(), description: child.summary() || child.description() })),
    values: command.registeredArguments.find((argument) => argument.argChoices)?.argChoices ?? [],
    options: [...options, { flag: '--help', description: 'show help for a command', values: [], takesValue: false }],
  }
  return [node, ...children.flatMap((child) => nodesOf(child, everywhere, `${path} ${child.name()}`.trim()))]
}

/** Quotes a text as all three shells read it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function valueClauses(nodes: Node[], show: (values: string[]) => string): string[] {
  return nodes.flatMap(({ path, options }) =>
    options
      .filter(({ values }) => values.length > 0)
      .map(({ flag, values }) => `    (${quoted(`${path} ${flag}`)}) ${show(values)}; return ;;`),
  )
}

const flagsWithValue = (nodes: Node[]) => [
  ...new Set(nodes.flatMap(({ options }) => options.filter(({ takesValue }) => takesValue).map(({ flag }) => flag))),
]

function bash(nodes: Node[]): string {
  const known = nodes.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  const clauses = nodes.map(({ path, commands, values, options }) => {
    const words = [...commands.map(({ name }) => name), ...values].join(' ')
    return `    (${quoted(path)}) words=${quoted(words)} options=${quoted(options.map(({ flag }) => flag).join(' '))} ;;`
  })
  return `# Completion of forecourt for bash.
_forecourt() {
  local at='' words='' options='' word i
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${at:+$at }\${COMP_WORDS[i]}"
    case "$word" in
      ${known.join(' | ')}) at="$word" ;;
    esac
  done
  case "$at $prev" in
${valueClauses(nodes, (values) => `COMPREPLY=($(compgen -W ${quoted(values.join(' '))} -- "$cur"))`).join('\n')}
  esac
  case "$prev" in
    (${flagsWithValue(nodes).join('|')}) return ;;
  esac
  case "$at" in
${clauses.join('\n')}
  esac
  if [[ "$cur" == -* ]]; then words="$options"; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o bashdefault -o default -F _forecourt forecourt
`
}

function zsh(nodes: Node[]): string {
  const known = nodes.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  const item = (name: string, description: string) => quoted(`${name.replaceAll(':', '\\:')}:${description}`)
  const clauses = nodes.map(({ path, commands, values, options }) => {
    const shownCommands = commands.map(({ name, description }) => item(name, description))
    const shownOptions = options.map(({ flag, description }) => item(flag, description))
    return `    (${quoted(path)}) commands=(${shownCommands.join(' ')}) values=(${values.map(quoted).join(' ')}) options=(${shownOptions.join(' ')}) ;;`
  })
  return `#compdef forecourt
# Completion of forecourt for zsh.
_forecourt() {
  local at='' word i
  local -a commands values options
  for ((i = 2; i < CURRENT; i++)); do
    word="\${at:+$at }\${words[i]}"
    case "$word" in
      (${known.join('|')}) at="$word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${valueClauses(nodes, (values) => `compadd -- ${values.map(quoted).join(' ')}`).join('\n')}
  esac
  case "\${words[CURRENT-1]}" in
    (${flagsWithValue(nodes).join('|')}) _files; return ;;
  esac
  case "$at" in
${clauses.join('\n')}
  esac
  if [[ "$PREFIX" == -* ]]; then _describe option options
  elif (( \${#commands} )); then _describe command commands
  else
    (( \${#values} )) && compadd -- $values
    _files
  fi
}
if [[ "\${funcstack[1]}" == _forecourt ]]; then _forecourt "$@"; else compdef _forecourt forecourt; fi
`
}

function fish(nodes: Node[]): string {
  const known = nodes.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  const lines = nodes.flatMap(({ path, commands, values, options }) => {
    const when = `complete -c forecourt -n ${quoted(`__forecourt_at ${quoted(path)}`)}`
    return [
      ...commands.map(({ name, description }) => `${when} -f -a ${quoted(name)} -d ${quoted(description)}`),
      ...(values.length > 0 ? [`${when} -a ${quoted(values.join(' '))}`] : []),
      ...options.map(({ flag, description, values: given, takesValue }) => {
        const value = takesValue ? ` -r${given.length > 0 ? ` -f -a ${quoted(given.join(' '))}` : ''}` : ''
        return `${when} -l ${flag.replace(/^--/, '')}${value} -d ${quoted(description)}`
      }),
    ]
  })
  return `# Completion of forecourt for fish.
function __forecourt_at
    set -l at ''
    for word in (commandline -opc)[2..]
        set -l longer (string trim -- "$at $word")
        if contains -- $longer ${known.join(' ')}
            set at $longer
        end
    end
    test "$at" = "$argv[1]"
end
${lines.join('\n')}
`
}

import { Command, type ErrorOptions } from 'commander'

interface Example {
  line: string
  what: string | undefined
}

export class CliCommand extends Command {
  readonly examples: Example[] = []

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name)
  }

  /** The command as it is typed, with the program's name. */
  get path(): string {
    const above = this.parent as CliCommand | null
    return above === null ? this.name() : `${above.path} ${this.name()}`
  }

  override error(message: string, options?: ErrorOptions): never {
    this.showHelpAfterError(`For help, run: ${this.path} --help`)
    return super.error(message, options)
  }

  /** A line as it is typed, without the program's name. */
  example(line: string, what?: string): this {
    if (this.examples.length === 0) this.addHelpText('after', () => this.showExamples())
    this.examples.push({ line, what })
    return this
  }

  private showExamples(): string {
    const shown = this.examples.map(({ line, what }) => `${what ? `  # ${what}\n` : ''}  forecourt ${line}`)
    return `\nExamples:\n${shown.join('\n')}`
  }
}

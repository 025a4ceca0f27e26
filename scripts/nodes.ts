import { join } from 'node:path'

export type SupportedNode = 'lowest' | 'newest'

const folderOf = (which: SupportedNode) => join(import.meta.dirname, '..', 'test', 'nodes', which)

/** The command that installs the lowest or the newest Node that is supported (Linux only). */
export const installationOf = (which: SupportedNode): string[] => [
  ...['npm', 'ci', '--prefix', folderOf(which)],
  ...['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'],
]

/** The folder with its program `node`. */
export const programsOf = (which: SupportedNode): string =>
  join(folderOf(which), 'node_modules', `node-${process.platform}-${process.arch}`, 'bin')

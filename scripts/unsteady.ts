import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const listFile = join(root, 'test', 'unsteady.json')
const mostListed = 5
const lastCommits = 10

/** A test file that may have a second attempt, because its tests depend on the machine's timing. */
interface Unsteady {
  file: string
  reason: string
  /** The day on which it was listed. */
  since: string
  /** The commits at which it needed its second attempt. */
  seen: string[]
}

/** Returns the list of `test/unsteady.json`. Throws if it is too long or names a file that is not there. */
export function unsteadyFiles(): Unsteady[] {
  const list: Unsteady[] = JSON.parse(readFileSync(listFile, 'utf8'))
  if (list.length > mostListed) throw new Error(`test/unsteady.json lists more than ${mostListed} files`)
  const gone = list.filter(({ file }) => !existsSync(join(root, file))).map(({ file }) => file)
  if (gone.length > 0) throw new Error(`test/unsteady.json lists what is not there: ${gone.join(', ')}`)
  return list
}

/**
 * Notes in `test/unsteady.json` that files needed a second attempt at this commit. Returns those that have needed one
 * at two of the last ten commits, which a gate must not accept.
 */
export function noteUnsteady(files: readonly string[]): string[] {
  const list = unsteadyFiles()
  const recent = newestCommits()
  const [head] = recent
  for (const one of list)
    if (head !== undefined && files.includes(one.file) && !one.seen.includes(head)) one.seen.push(head)
  writeFileSync(listFile, `${JSON.stringify(list, null, 2)}\n`)
  return list.filter(({ file, seen }) => files.includes(file) && count(seen, recent) > 1).map(({ file }) => file)
}

const count = (seen: readonly string[], recent: readonly string[]) =>
  seen.filter((commit) => recent.some((one) => one.startsWith(commit))).length

/** The newest commits of the first parent, the newest first; none without a repository. */
function newestCommits(): string[] {
  try {
    const log = execFileSync('git', ['log', '--first-parent', `-${lastCommits}`, '--format=%h', '--abbrev=12'], {
      cwd: root,
    })
    return log.toString().trim().split('\n')
  } catch {
    return []
  }
}

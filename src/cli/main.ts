import { Context } from './context.ts'
import { run } from './run.ts'

// On Node, the title replaces the arguments in lists of processes: one may be a key.
process.title = 'forecourt'

const { env: environment, stdin, stdout, stderr } = process
const context = new Context({ environment, stdin, stdout, stderr })
const broken = new Set<NodeJS.WritableStream>()
stderr.on('error', () => broken.add(stderr))
stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  broken.add(stdout)
  if (context.outlivesReader) return
  // The reader of the output may stop early, as in `forecourt app list | head -1`.
  if (code === 'EPIPE') process.exit(0)
  stderr.write(`Can’t write to standard output: ${message}.\n`)
  process.exit(1)
})
const code = await run(process.argv.slice(2), context)
// Output to a pipe may still be on its way. A broken pipe would never report that it has arrived.
const read = [stdout, stderr].filter((stream) => !broken.has(stream))
await Promise.all(read.map((stream) => new Promise<void>((resolve) => stream.end(resolve))))
process.exit(code)

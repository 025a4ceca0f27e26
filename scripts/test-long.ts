import { spawnSync } from 'node:child_process'

// The long run, `npm run test:long`: every test at its full size, then those of the service on Node, at their ordinary
// size, and with three processes. It takes more than an hour, so each part runs also after one that failed. Ends with 1
// if any did.

interface Part {
  name: string
  command: string
  env?: Record<string, string | undefined>
}

/** Its measurements need a machine that does nothing else. */
const waits = 'neighbours.test.ts'
/** What full size adds does not depend on the runtime. */
const ordinarySize = { FORECOURT_TEST_LONG: undefined }
const threeProcesses = { FORECOURT_TEST_WORKERS: '3' }

const parts: Part[] = [
  { name: 'all tests, on Bun', command: `npm test -- --path-ignore-patterns='**/${waits}'` },
  { name: 'waits beside busy neighbours, with nothing else on the machine', command: `npm test ${waits}` },
  { name: 'other people’s tools', command: 'bun scripts/other-tools.ts' },
  {
    name: 'conformance and fault tests, on the lowest Node',
    command: 'bun scripts/on-node.ts lowest npm test test/conformance test/faults',
    env: ordinarySize,
  },
  {
    name: 'connections and the stop, on the newest Node',
    command: 'bun scripts/on-node.ts newest npm test edge-connections silent-connections stopping',
  },
  { name: 'conformance, with three processes', command: 'npm test test/conformance', env: threeProcesses },
  {
    name: 'races and kills, with three processes, a file at a time',
    command: 'npm test races kills two-processes stopping workers linearizability',
    env: { ...threeProcesses, FORECOURT_TEST_SIDE_BY_SIDE: '1' },
  },
]

const outcomes = parts.map(({ name, command, env }) => {
  console.log(`\n${name}: ${command}\n`)
  const began = performance.now()
  const { status } = spawnSync(command, {
    shell: true,
    stdio: 'inherit',
    env: { ...process.env, FORECOURT_TEST_LONG: '1', ...env },
  })
  const minutes = Math.ceil((performance.now() - began) / 60_000)
  return { line: `${status === 0 ? 'passed' : 'FAILED'} in ${minutes} min: ${name}`, isPassed: status === 0 }
})
console.log(`\n${outcomes.map(({ line }) => line).join('\n')}`)
process.exitCode = outcomes.every(({ isPassed }) => isPassed) ? 0 : 1

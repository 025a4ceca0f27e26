import { faults } from '../test/planted/all.ts'

const groups = {
  rules: 'Rules',
  routes: 'Routes',
  sql: 'SQL and routines',
  console: 'Console',
  sdk: 'SDK',
} as const

/** `docs/testing.md`: which tests find each fault of `test/planted`. */
export function plantedPage(): string {
  const found = faults.filter(({ foundBy }) => foundBy.length > 0)
  const rows = Object.entries(groups).map(([group, name]) => {
    const of = faults.filter((fault) => fault.group === group)
    const inShortRun = of.filter(({ foundBy, isOfLongRun }) => foundBy.length > 0 && !isOfLongRun)
    const inLongRun = of.filter(({ foundBy, isOfLongRun }) => foundBy.length > 0 && isOfLongRun)
    return `| ${name} | ${of.length} | ${inShortRun.length} | ${inLongRun.length} | ${of.length - inShortRun.length - inLongRun.length} |`
  })
  return `# What the tests find

\`test/planted/\` has ${faults.length} small faults of the source. \`bun scripts/planted.ts\` plants each in a copy of the checkout and says which
test files fail; ${found.length} are found. A fault without a finder is a gap: write the test that finds it. [test/README.md](../test/README.md)
says how to run the command; this page is generated from what it found.

| faults in | planted | found by the short run | by the long run alone | no finder known |
| --- | --: | --: | --: | --: |
${rows.join('\n')}

${Object.entries(groups)
  .map(([group, name]) => `## ${name}\n\n${tableOf(group)}`)
  .join('\n\n')}
`
}

function tableOf(group: string): string {
  const rows = faults
    .filter((fault) => fault.group === group)
    .map(({ name, foundBy, isOfLongRun }) => {
      const finders = foundBy
        .map((file) => `\`${file.replace(/\.test\.tsx?$/, '').replace(/^test\//, '')}\``)
        .join(', ')
      return `| ${name} | ${finders || '–'}${isOfLongRun ? ' (long run)' : ''} |`
    })
  return ['| fault | found by |', '| --- | --- |', ...rows].join('\n')
}

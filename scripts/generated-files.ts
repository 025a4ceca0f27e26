import { openApiDocument } from '../src/http/openapi.ts'
import { api } from '../src/operations.ts'
import { refusals } from '../src/refusals.ts'

/** The files that are made from the source and checked in, by their paths. */
export function generatedFiles(): Record<string, string> {
  return {
    'openapi.json': `${JSON.stringify(openApiDocument(api), null, 2)}\n`,
    'docs/errors.md': errorPage(),
  }
}

function errorPage(): string {
  const rows = Object.entries(refusals)
    .sort(([, a], [, b]) => a.code - b.code)
    .map(([name, { code, status, when, en, zh }]) => `| ${code} | ${status} | ${name} | ${when} | ${en} ${zh} |`)
  return `# Errors

Every refusal is \`{"code":N,"msg":"…","data":null}\` with the HTTP status below. \`code\` is the contract; \`msg\` is for
people, in Chinese when \`Accept-Language\` prefers it. Code 10001 carries \`data.errors\`, with every faulty field,
the first 1,000 of them.
This page is made from \`src/refusals.ts\` by \`npm run generate\`.

| code | status | name | when | msg |
| --- | --- | --- | --- | --- |
${rows.join('\n')}
`
}

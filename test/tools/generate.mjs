import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createClient } from '@hey-api/openapi-ts'
import { createConfig, lint } from '@redocly/openapi-core'
import spectralCore from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { generate } from 'orval'

// Checks an OpenAPI document with a linter and generates clients from it: `node generate.mjs openapi.json FOLDER`. One
// process does everything, because loading the tools takes longer than their work.

const [, , path, folder] = process.argv

const spectral = new spectralCore.Spectral()
spectral.setRuleset({ extends: [rulesets.oas] })
const found = [
  ...(await lint({ ref: path, config: await createConfig({ extends: ['recommended'] }) })).map(
    ({ ruleId, message, location }) => `redocly ${ruleId} at ${location[0]?.pointer}: ${message}`,
  ),
  ...(await spectral.run(readFileSync(path, 'utf8'))).map(
    ({ code, message, path: at }) => `spectral ${code} at ${at.join('.')}: ${message}`,
  ),
]
for (const problem of found) console.error(problem)
if (found.length > 0) process.exit(1)

writeFileSync(join(folder, 'openapi-typescript.ts'), astToString(await openapiTypescript(pathToFileURL(path))))
const plugins = ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk']
await createClient({ input: path, output: { path: join(folder, 'hey-api') }, plugins, logs: { level: 'silent' } })
for (const client of ['fetch', 'zod']) {
  await generate({ input: { target: path }, output: { target: join(folder, 'orval', `${client}.ts`), client } })
}

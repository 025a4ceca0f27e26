import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedFiles } from './generated-files.ts'

// Writes the files that are made from the source and checked in: `npm run generate`.

for (const [path, text] of Object.entries(generatedFiles())) writeFileSync(join(import.meta.dirname, '..', path), text)

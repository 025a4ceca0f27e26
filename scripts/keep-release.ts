import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { keepRelease } from '../test/kept-release.ts'
import { projectFolder } from '../test/kit/folders.ts'
import { startService } from '../test/kit/service.ts'

// Makes test/releases/VERSION, by which every later version is tested: a backup of this version, and what it told.
//
//   bun scripts/keep-release.ts

const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'))
const folder = join(projectFolder, 'test', 'releases', version)
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const service = await startService()
await keepRelease(service, folder, version)
await service.stop()

import { createRequire } from 'node:module'

export const { version }: { version: string } = createRequire(import.meta.url)('../../package.json')

const { bun, node } = process.versions

export const runtime = bun === undefined ? `Node ${node}` : `Bun ${bun}`

import { createRequire } from 'node:module'

/** Of the program, as its package has it. */
export const { version }: { version: string } = createRequire(import.meta.url)('../../package.json')

const { bun, node } = process.versions

/** What runs it, as people are told. */
export const runtime = bun === undefined ? `Node ${node}` : `Bun ${bun}`

// The client for programs. It has no dependencies, and runs wherever `fetch` and Web Crypto exist.

export type * from './api.ts'
export { verifyCallback } from './callback.ts'
export { ForecourtError } from './error.ts'
export { FileAnswer, type FileInput } from './file.ts'
export { Forecourt, type ForecourtOptions } from './forecourt.ts'

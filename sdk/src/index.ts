// The client for programs. It depends on nothing, and runs wherever there are `fetch` and Web Crypto.

export type * from './api.ts'
export { verifyCallback } from './callback.ts'
export { ForecourtError } from './error.ts'
export { FileAnswer, type FileInput } from './file.ts'
export { Forecourt, type ForecourtOptions } from './forecourt.ts'

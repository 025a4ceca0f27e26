import { mkdirSync } from 'node:fs'

/**
 * Makes the data folder, if it is not there, for nobody but its owner. As root the embedded database is another user, who
 * passes through it to its own folder, and can do no more there.
 */
export function makeDataFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
}

import { mkdirSync } from 'node:fs'

/**
 * Creates the data folder, if it is missing, with access for its owner alone. Started by root, the embedded database
 * runs as another user, who may pass through this folder to its own and can do nothing else here.
 */
export function makeDataFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
}

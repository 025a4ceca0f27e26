import { mkdirSync } from 'node:fs'

/** Creates a missing folder for its owner alone; under root, the embedded database's user may pass through it. */
export function makeDataFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
}

import { store, stored } from '../../browser/storage.ts'

// Shortcuts of a single key can be turned off: a user of speech input would trigger them by ordinary words (WCAG
// 2.1.4).

const storageKey = 'forecourt.keys.single'

export const isSingleKeyOn = (): boolean => stored(storageKey) !== 'off'

export function turnSingleKeys(isOn: boolean): void {
  store(storageKey, isOn ? null : 'off')
}

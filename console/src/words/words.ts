/** Words in the languages of the console. */
export interface Words {
  en: string
  zh: string
}

export const w = (en: string, zh: string): Words => ({ en, zh })

/** Why a field is refused, in both languages. */
export interface Reason {
  en: string
  zh: string
}

export interface RefusalKind extends Reason {
  code: number
  status: number
  /** When it is given. */
  when: string
  whenZh: string
  /** What the caller does about it; the guide of errors is made of this. */
  todo: Reason
}

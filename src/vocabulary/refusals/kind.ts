export interface Reason {
  en: string
  zh: string
}

export interface RefusalKind extends Reason {
  code: number
  status: number
  when: string
  whenZh: string
  /** The guide of errors is made of this. */
  todo: Reason
}

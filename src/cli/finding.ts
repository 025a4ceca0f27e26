/** The result of one check. */
export interface Finding {
  name: string
  status: 'ok' | 'warn' | 'fail'
  /** The result in words. */
  message: string
  /** What to do about it; null when there is nothing to do. */
  todo: string | null
}

export const ok = (name: string, message: string): Finding => ({ name, status: 'ok', message, todo: null })
export const warn = (name: string, message: string, todo: string): Finding => ({ name, status: 'warn', message, todo })
export const fail = (name: string, message: string, todo: string): Finding => ({ name, status: 'fail', message, todo })

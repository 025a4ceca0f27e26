/** The message is one clear sentence that says what to do; a stack would not help. */
export class UserError extends Error {
  override name = 'UserError'
  readonly isUsage: boolean
  /** `isUsage` for a command that is written wrongly; its message holds no password. */
  constructor(message: string, isUsage = false) {
    super(message)
    this.isUsage = isUsage
  }
}

export const usageError = (message: string) => new UserError(message, true)

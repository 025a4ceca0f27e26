/** The message is one clear sentence that says what to do; a stack would not help. */
export class UserError extends Error {
  override name = 'UserError'
}

/** An error for users: the message is one clear sentence that says what to do, and a stack would not help. */
export class UserError extends Error {
  override name = 'UserError'
}

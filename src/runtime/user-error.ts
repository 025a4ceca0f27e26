/** What went wrong, for people: the message is one clear sentence and says what to do, and no stack helps further. */
export class UserError extends Error {
  override name = 'UserError'
}

/** The message is for the person who wrote the command, and holds no password. */
export class UsageError extends Error {}

/** A mistake in how a command was written. Its message is for the person who wrote it, and holds no password. */
export class UsageError extends Error {}

export const keptLimits = {
  /**
   * Rows. What an application or account has left behind in 24 hours: idempotency keys, events in the platform’s log,
   * price changes and their sites. Protects the disk. Beyond it: 429 10007. Tested by: test/faults/usage.test.ts.
   */
  usageRows: 10_000_000,
  /**
   * Bytes. The same in bytes; stored files and results (FORECOURT_FILE_BYTES) count too, and raise it by what they may
   * take. Protects the disk. Beyond it: 429 10007. Tested by: test/faults/usage.test.ts.
   */
  usageBytes: 8 * 1024 ** 3,
  /**
   * Events. Those that an application has in the platform’s log in 24 hours: imports, bulk actions, replays, callback
   * tests and rotations. Protects the log, which is kept for long. Beyond it: 429 10007; cancelling, and rotating a
   * secret, have as many once more. Tested by: test/faults/usage.test.ts.
   */
  platformEventsOfOne: 2_000,
  /**
   * Events. The same of an account or an operator key; not of the key of the settings. Beyond it: 429 10007; signing out
   * and ending something have as many once more. Tested by: test/faults/usage.test.ts.
   */
  platformEventsOfAccount: 20_000,
  /**
   * Imports. The dry runs of an application that have ended and can still be read, for a day. Protects the disk. Beyond
   * it: the oldest is removed. Tested by: test/conformance/bulk-imports.test.ts.
   */
  dryRunsOfOne: 10,
  /**
   * Bytes. The size up to which a dry run that makes room for another is removed with it; upkeep removes larger ones in
   * steps. Protects other writers. Tested by: test/conformance/bulk-imports.test.ts.
   */
  dryRunRemovedBytes: 64 * 1024,
  /**
   * Tokens. The valid tokens of an application; protects the database from one that requests a token each time.
   * Beyond it: the oldest ends. Tested by: test/faults/many-tokens.test.ts.
   */
  tokensOfOne: 1000,
  /**
   * Sessions. The sessions of an account; protects the database. Beyond it: the oldest ends. Tested by:
   * test/conformance/sessions.test.ts.
   */
  sessionsOfOne: 20,
  /**
   * Browsers. The known browsers of an account; protects the database. Beyond it: the oldest is forgotten. Tested by:
   * test/conformance/sessions.test.ts.
   */
  browsersOfOne: 20,
  /**
   * Views. The saved views of an account; protects the database. Beyond it: 400 10001. Tested by:
   * test/conformance/views.test.ts.
   */
  viewsOfOne: 50,
  /**
   * Refusals. The stored refusals of an application; protects the disk. Beyond it: the oldest is removed. Tested by:
   * test/conformance/refusal-log.test.ts.
   */
  refusalsOfOne: 1000,
  /**
   * Refusals a minute. The refusals of one application that are stored, over all processes; protects the database.
   * Beyond it: more are not stored. Tested by: test/conformance/refusal-log.test.ts.
   */
  refusalsAMinute: 300,
  /**
   * Refusals. The refusals that wait to be stored; protects memory. Beyond it: more are not stored. Tested by:
   * test/faults/outages.test.ts.
   */
  refusalsWaiting: 2000,
  /**
   * Faulty members. The faulty members that are stored of one refusal; protects the disk. Beyond it: only the first
   * are stored. Tested by: test/conformance/refusal-log.test.ts.
   */
  refusalErrors: 32,
  /**
   * Lines of a kind a minute. The log lines about refused clients; protects the log from clients that are refused in
   * a loop. Beyond it: one line counts the rest. Tested by: test/conformance/refusals-of-none.test.ts.
   */
  refusalLinesAMinute: 20,
} as const

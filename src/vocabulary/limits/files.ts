export const fileLimits = {
  /**
   * Bytes. The size of one file; protects the database’s disk. Beyond it: 413 10001. Tested by:
   * test/faults/large-files.test.ts.
   */
  fileBytes: 1024 ** 3,
  /**
   * Files. The uploads of a process at once; protects its memory and processor. Beyond it: 503 50003.
   * Tested by: test/faults/slow-files.test.ts.
   */
  filesAtOnce: 8,
  /**
   * Files. The uploads of one application or account at once; others need some too. Beyond it: 429 10007.
   * Tested by: test/faults/slow-files.test.ts.
   */
  filesAtOnceOfOne: 4,
  /**
   * Files. The uploads of a process at once when those beyond `filesAtOnce` are the first of their
   * owners. Beyond it: 503 50003. Tested by: test/faults/slow-files.test.ts.
   */
  filesInAll: 32,
  /**
   * Files. The exports and results that are being sent to one application or account at once, in one process; protects
   * its memory. Beyond it: 429 10007. Tested by: test/faults/slow-files.test.ts.
   */
  downloadsOfOne: 64,
  /** Ms. The silence of an upload; protects its place. Beyond it: 408 10001. Tested by: test/file-pace.test.ts. */
  fileIdleMs: 30_000,
  /**
   * Bytes. How much of a refused file is still read, for clients that read the response only after they have sent
   * everything. Beyond it: the connection is closed. Tested by: test/faults/large-files.test.ts.
   */
  fileDrainedBytes: 8 * 1024 * 1024,
  /**
   * Rows. The rows of a stored piece of a file, and so of each step of an import; protects memory. Beyond it: the
   * next piece begins. Tested by: bench/bulk.ts.
   */
  filePieceRows: 500,
  /**
   * Bytes. The bytes of a stored piece of a file, and so of each step of an import; protects memory. Beyond it: the
   * next piece begins. Tested by: bench/bulk.ts.
   */
  filePieceBytes: 256 * 1024,
  /**
   * Bytes. The bytes of one row of a file, more than any kind needs; protects memory. Beyond it: the import is
   * refused. Tested by: test/faults/large-files.test.ts.
   */
  fileRowBytes: 64 * 1024,
  /**
   * Lines in a row. The blank lines of a file, which cost work and contain nothing; protects the event loop. Beyond
   * it: 400 10001. Tested by: test/faults/large-files.test.ts.
   */
  fileBlankLines: 10_000,
  /**
   * Rows. The rows of an import that one transaction writes; protects other writers. Beyond it: the next portion
   * begins. Tested by: bench/bulk.ts.
   */
  importPortionRows: 500,
  /**
   * Rows. The same while others write, or more, up to `importPortionRows`, if they take less than 40 ms. Beyond it:
   * the next portion begins. Tested by: bench/bulk.ts.
   */
  importBusyPortionRows: 100,
  /**
   * Jobs. The long imports and bulk actions of all processes at once, and as many short ones; protects creates. Beyond
   * it: one waits. Tested by: bench/bulk.ts.
   */
  importsAtOnce: 2,
  /**
   * Rows. A job with more is long: short ones have places of their own, so that they don’t wait for long ones. Tested by:
   * test/faults/import-places.test.ts.
   */
  shortJobRows: 20_000,
  /**
   * Failures in a row. The attempts at one place of an import, after which it counts as impossible; protects the
   * worker. Beyond it: the import ends. Tested by: test/faults/import-kills.test.ts.
   */
  importFailures: 20,
  /**
   * Rows. The refused rows of an import; more mean that the file is wrong. Protects the disk. Beyond it: the import
   * ends. Tested by: test/conformance/bulk-imports.test.ts.
   */
  importRefusedRows: 1_000_000,
  /**
   * Serial numbers. Those of an import whose first line is remembered, to name it in the refusal of a later row with the
   * same one; protects memory. Beyond it: the oldest are forgotten. Tested by: test/conformance/refused-rows.test.ts.
   */
  importKnownSerials: 100_000,
  /**
   * Bytes. The refused rows of an import that are kept as they were sent; protects the room for the application's files.
   * Beyond it: of a row only the reason is kept. Tested by: test/conformance/refused-rows.test.ts.
   */
  importSentBytes: 16 * 1024 * 1024,
  /**
   * Rows. The rows, matching or not, that one statement of an act reads; protects other writers and keeps the lease.
   * Beyond it: the next statement begins. Tested by: bench/bulk.ts.
   */
  actRowsScanned: 5_000,
  /**
   * Rows. The rows that one read of an export returns; protects the database. Beyond it: the next read waits for its
   * turn. Tested by: bench/fair-shares.ts.
   */
  exportPageRows: 500,
  /**
   * Devices. The devices whose reports one read of an export looks up, so that it does not hold its connection for
   * long. Beyond it: the next read continues. Tested by: test/device-searches.test.ts.
   */
  exportRowsWalked: 10_000,
  /** Records. The records of each kind in the response to a search. Tested by: test/conformance/search.test.ts. */
  searchFound: 8,
  /**
   * Rows. The rows of each kind in which a search looks for a part of a name or serial number, so that it does not
   * hold its connection for long. Beyond it: a page operation finds the rest. Tested by:
   * test/operation-costs.test.ts.
   */
  searchRowsWalked: 30_000,
} as const

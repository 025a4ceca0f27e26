// The limits of a process and of what it stores, each with a comment in this form: “Unit. What is limited, and what that
// protects. Beyond it: the status and code, or what happens. Tested by: the test or benchmark.” `npm run generate` makes
// docs/limits.md from them. Settings are in config.ts, lengths and ranges of the contract's values in values.ts,
// intervals of background work beside that work.

export const limits = {
  // Bodies and answers

  /** Bytes. The body of a request; protects memory. Beyond it: 413 10001. Tested by: test/conformance/edge.test.ts. */
  bodyBytes: 64 * 1024,
  /**
   * Bytes. The body of a batch; a thousand rows with long names, remarks and addresses fit. Protects memory. Beyond
   * it: 413 10001. Tested by: test/conformance/batches.test.ts.
   */
  batchBytes: 4 * 1024 * 1024,
  /**
   * Rows. The rows of a batch in one request; protects the write path. Beyond it: 400 10001. Tested by:
   * test/conformance/batches.test.ts.
   */
  batchRows: 1000,
  /**
   * Rows. The rows of a batch operation that wait in the lane at once; single creates need not wait for more. Beyond
   * it: the next rows of the batch wait. Tested by: bench/fairness.ts.
   */
  batchRowsInLane: 128,
  /**
   * Rows. The same on a cluster, where a transaction costs more than its rows. Beyond it: the next rows of the batch
   * wait. Tested by: test/citus/plans.test.ts.
   */
  batchRowsInLaneOnCluster: 256,
  /**
   * Portions. The portions of `batchRowsInLane` rows, of all batches of one application, that wait in lanes at once;
   * keeps room for others. Beyond it: the next portion waits. Tested by: test/faults/write-shares.test.ts.
   */
  batchPortionsOfOne: 16,
  /**
   * Sites. The sites of one summary; protects the database. Beyond it: 400 10001. Tested by:
   * test/conformance/placement-pages.test.ts.
   */
  sitesSummarized: 100,
  /**
   * Meters. How far from a site a suggested device may be; protects the database. Beyond it: 400 10001. Tested by:
   * test/conformance/placement-pages.test.ts.
   */
  suggestMeters: 5000,
  /**
   * Suggestions. The suggestions in one response; protects the database. Beyond it: only the nearest are returned.
   * Tested by: test/conformance/placement-pages.test.ts.
   */
  suggestions: 100,
  /**
   * Placements. The placements that one statement ends when a site is deleted; protects the database. Beyond it:
   * another statement follows. Tested by: test/conformance/placement-ends.test.ts.
   */
  placementsAtOnce: 1000,
  /**
   * Levels. The nesting of a JSON body; no operation takes a deeper one. Protects the parser’s stack. Beyond it: 400
   * 10001. Tested by: test/faults/file-bombs.test.ts.
   */
  jsonDepth: 32,
  /**
   * Values. The members and elements of a JSON body (the largest import of the inventory has about 60,000); protects the
   * event loop. Beyond it: 400 10001. Tested by: test/faults/file-bombs.test.ts.
   */
  jsonValues: 100_000,
  /**
   * Members. The members of one JSON object; protects the event loop from names that are chosen to be slow to look
   * up. Beyond it: 400 10001. Tested by: test/faults/file-bombs.test.ts.
   */
  jsonMembers: 1000,
  /**
   * Bytes. The length from which the escapes of a JSON text are counted: no member takes a longer text. Protects the
   * event loop. Beyond it: its escapes are counted. Tested by: test/faults/file-bombs.test.ts.
   */
  jsonLongTextBytes: 64 * 1024,
  /**
   * Escapes. The escapes in the long texts of a body: there, an escape takes a parser twenty times as long as a
   * letter. Protects the event loop. Beyond it: 400 10001. Tested by: test/faults/file-bombs.test.ts.
   */
  jsonLongEscapes: 500_000,
  /**
   * Bytes. The size from which a body is parsed and validated in slices; protects other requests. Beyond it: the
   * event loop takes turns between slices. Tested by: test/faults/file-bombs.test.ts.
   */
  jsonSlicedBytes: 256 * 1024,
  /**
   * Faults. The faults that are reported for one body; protects the event loop. Beyond it: the first 1,000 are
   * returned. Tested by: test/faults/file-bombs.test.ts.
   */
  faultsShown: 1000,
  /**
   * Items. The items of a list that are validated without a pause; protects other requests. Beyond it: a turn of the
   * event loop. Tested by: test/faults/file-bombs.test.ts.
   */
  validatedAtOnce: 256,
  /** Rows. The rows of a page; protects memory. Beyond it: 400 10001. Tested by: test/conformance/pages.test.ts. */
  pageRows: 100,
  /**
   * Rows. The rows up to the end of a numbered page, which the database must walk through. Beyond it: 400 10001; a
   * cursor has no limit. Tested by: test/conformance/pages.test.ts.
   */
  pageRowsNumbered: 100_000,
  /**
   * Rows. The rows up to which `total` is exact; protects the database. Beyond it: `totalIsExact` is false. Tested
   * by: test/conformance/pages.test.ts.
   */
  pageRowsCounted: 10_000,
  /**
   * Devices. The matching devices whose keys one search by reports may keep; protects the database’s
   * memory. Beyond it: the page is read along the index. Tested by: test/device-plans.test.ts.
   */
  joinedDevicesFound: 100_000,
  /**
   * Devices. The devices whose reports a search samples if most devices may match; protects the database. Beyond it:
   * the search uses a join, unless more than `pageRowsCounted` have matched. Tested by: test/device-plans.test.ts.
   */
  joinedDevicesLookedAt: 20_000,
  /**
   * Bytes. The head of a request: a query that names 100 serial numbers, each character percent-encoded, fits. Protects
   * memory. Beyond it: 431 10001. Tested by: test/conformance/wire.test.ts.
   */
  headBytes: 32 * 1024,
  /**
   * Seconds. The time in which a head must arrive; protects connections. Beyond it: 408 10001. Tested by:
   * test/faults/edge-connections.test.ts.
   */
  headSeconds: 15,
  /**
   * Requests. The requests that wait behind another one in a connection of the service on Bun; protects memory. Beyond
   * it: the last of them closes the connection, and those behind it are not carried out. Tested by:
   * test/conformance/wire.test.ts.
   */
  pipelinedRequests: 64,
  /**
   * Seconds. How long a connection is kept without a request, longer than the 60 seconds of most load balancers.
   * Protects connections. Beyond it: the connection is closed. Tested by: test/faults/edge-connections.test.ts.
   */
  idleConnectionSeconds: 75,
  /**
   * Milliseconds. How long a client that has closed its half of the connection may take nothing before it counts as
   * gone; protects the database from reads for nobody. Beyond it: what waits is dropped with 50003, a write under way
   * goes on and is answered. Tested by: test/conformance/wire.test.ts.
   */
  halfClosedMs: 1000,
  /**
   * Milliseconds. How long the service on Bun waits for its client to close a connection that it closes itself;
   * protects connections. Beyond it: the connection is cut. Tested by: test/faults/edge-connections.test.ts.
   */
  lingeringMs: 2000,
  /**
   * File descriptors. The open files that a process keeps free of connections, for the database, callbacks and
   * the log. Beyond it: the connection that was idle longest is closed. Tested by:
   * test/faults/edge-connections.test.ts.
   */
  openFilesKept: 256,
  /**
   * Seconds. How long a client may read nothing of a streamed response; protects memory. Beyond it: the connection is
   * closed. Tested by: test/faults/access-ended.test.ts.
   */
  readerIdleSeconds: 60,

  // Streams of events

  /**
   * Streams. The open streams of events of a process; protects memory. Beyond it: 429 10007. Tested by:
   * bench/streams.ts.
   */
  streams: 5_000,
  /**
   * Streams. Those of one application or operator key, over all processes of a machine; others need some too. Beyond it:
   * 429 10007. Tested by: test/conformance/event-stream.test.ts.
   */
  streamsOfOne: 20,
  /**
   * Streams. Those of one session, over all processes of a machine. Beyond it: 429 10007. Tested by:
   * test/conformance/event-stream.test.ts.
   */
  streamsOfSession: 4,

  // Files

  /**
   * Bytes. The size of one file; protects the database’s disk. Beyond it: 413 10001. Tested by:
   * test/faults/import-memory.test.ts.
   */
  fileBytes: 1024 ** 3,
  /**
   * Files. The uploads and exports of a process at once; protects its memory and processor. Beyond it: 503 50003.
   * Tested by: test/faults/slow-files.test.ts.
   */
  filesAtOnce: 8,
  /**
   * Files. The uploads and exports of one application or account at once; others need some too. Beyond it: 429 10007.
   * Tested by: test/faults/slow-files.test.ts.
   */
  filesAtOnceOfOne: 4,
  /**
   * Files. The uploads and exports of a process at once when those beyond `filesAtOnce` are the first of their
   * owners. Beyond it: 503 50003. Tested by: test/faults/slow-files.test.ts.
   */
  filesInAll: 32,
  /** Ms. The silence of an upload; protects its place. Beyond it: 408 10001. Tested by: test/file-pace.test.ts. */
  fileIdleMs: 30_000,
  /**
   * Bytes. How much of a refused file is still read, for clients that read the response only after they have sent
   * everything. Beyond it: the connection is closed. Tested by: test/faults/file-bombs.test.ts.
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
   * refused. Tested by: test/faults/file-bombs.test.ts.
   */
  fileRowBytes: 64 * 1024,
  /**
   * Lines in a row. The blank lines of a file, which cost work and contain nothing; protects the event loop. Beyond
   * it: 400 10001. Tested by: test/faults/file-bombs.test.ts.
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
  /** Imports. Those of all processes at once; protects creates. Beyond it: one waits. Tested by: bench/bulk.ts. */
  importsAtOnce: 2,
  /** Imports. Those of one process at once; protects creates. Beyond it: one waits. Tested by: bench/bulk.ts. */
  importsOfProcess: 2,
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
   * long. Beyond it: the next read continues. Tested by: test/device-plans.test.ts.
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

  // Prices

  /**
   * Price changes. The waiting price changes of one billing rule; protects the database. Beyond it: 409 40007. Tested
   * by: test/conformance/price-changes.test.ts.
   */
  priceChangesOfRule: 32,
  /**
   * Price changes. The waiting price changes of one application; protects the database. Beyond it: 409 40007. Tested
   * by: test/conformance/price-changes.test.ts.
   */
  priceChangesOfOne: 200,
  /**
   * Price changes. Those that an application schedules or undoes in 24 hours, cancelled ones too; protects the disk.
   * Beyond it: 429 10007. Tested by: test/faults/usage.test.ts.
   */
  priceChangesADay: 2_000,
  /**
   * Sites. The sites of the price changes of 24 hours, cancelled ones too; protects the disk. Beyond it: 429 10007.
   * Tested by: test/faults/usage.test.ts.
   */
  priceChangeSitesADay: 2_000_000,
  /**
   * Sites. The sites of one price change; protects the database. Beyond it: 400 10001. Tested by:
   * test/conformance/price-changes.test.ts.
   */
  priceChangeSites: 10_000,
  /**
   * Sites. The sites that a price change names by their ids; protects memory. Beyond it: 400 10001. Tested by:
   * test/conformance/price-changes.test.ts.
   */
  priceChangeIds: 1000,
  /**
   * Days ahead. How far ahead a price change may be scheduled; a later moment is probably a typing mistake. Beyond
   * it: 400 10001. Tested by: test/conformance/price-changes.test.ts.
   */
  priceChangeDays: 731,
  /**
   * Sites. The sites that one transaction writes when a price change takes effect; protects other writers of the
   * application. Beyond it: the next transaction begins. Tested by: bench/prices.ts.
   */
  pricePortionSites: 500,

  // Fairness

  /**
   * Reads. The reads of a process that run at once; protects the database’s connections. Beyond it: the read waits.
   * Tested by: bench/fair-shares.ts.
   */
  readsAtOnce: 5,
  /**
   * Reads. The reads of one owner that run at once; protects the reads of others. Beyond it: the read waits. Tested
   * by: bench/fair-shares.ts.
   */
  readsAtOnceOfOne: 2,
  /**
   * Reads. The waiting reads of one owner; protects memory and the waiting times of others. Beyond it: 429 10007.
   * Tested by: test/faults/fair-shares.test.ts.
   */
  readsWaitingOfOne: 128,
  /**
   * Ms. The part of a read’s time that counts once; the rest counts four times. Programs that read page after page
   * stay below it. Beyond it: the owner waits longer. Tested by: test/faults/read-shares.test.ts.
   */
  shortReadMs: 20,
  /**
   * Acts. The acts of one application whose rows are counted at once. Beyond it: the next act waits. Tested by:
   * test/faults/write-shares.test.ts.
   */
  actCountsOfOne: 1,
  /**
   * Acts. The acts of one application that wait for their count; protects its places. Beyond it: 429 10007. Tested by:
   * test/faults/write-shares.test.ts.
   */
  actCountsWaitingOfOne: 8,
  /**
   * Writes. The writes of one application or account that run at once, lanes apart: the others wait without a connection.
   * Beyond it: the write waits. Tested by: test/faults/write-shares.test.ts.
   */
  writesAtOnceOfOne: 1,
  /**
   * Writes. The same while nobody else writes: one waits for the lock while the other commits. Beyond it: the write waits.
   * Tested by: test/faults/write-shares.test.ts.
   */
  writesAtOnceOfOneAlone: 2,
  /**
   * Creates. The queued creates per attempt of a callback, while creates queue. Beyond it: the attempt waits. Tested
   * by: bench/callbacks.ts.
   */
  createsPerAttempt: 4,
  /**
   * Attempts a second. The callback attempts that may always begin, however many creates queue. Tested by:
   * bench/callbacks.ts.
   */
  attemptsPerSecond: 100,
  /**
   * Items. The fewest that begin a batch while another batch is in progress; fewer wait until it ends. Protects the database.
   * Tested by: bench/run.ts.
   */
  batchLeastBeside: 8,
  /**
   * Items. The items of one application in a batch while others use the lane too: they wait for no larger batch. Beyond
   * it: its other items wait for the next batch. Tested by: test/faults/write-shares.test.ts.
   */
  batchItemsOfOneBeside: 128,
  /** Items. The size from which a batch waits for no more items; keeps responses fast. Tested by: bench/run.ts. */
  batchWellFilled: 32,
  /**
   * Look-ups. The look-ups of unknown tokens that wait; protects memory from invented tokens. Beyond it: 503 50003.
   * Tested by: test/faults/outages.test.ts.
   */
  callersWaiting: 10_000,
  /**
   * Callers. The callers in the cache; protects memory. Beyond it: the oldest is looked up again. Tested by:
   * test/faults/outages.test.ts.
   */
  callersKnown: 200_000,
  /**
   * Ms. How long a cached caller is trusted, so that revocations take effect within the contract’s second. Beyond it:
   * the caller is looked up again. Tested by: test/faults/freeze.test.ts.
   */
  callersTrustedMs: 900,

  // Callbacks

  /**
   * Endpoints. The callback endpoints that a process sends to at once. Beyond it: the endpoint waits. Tested by:
   * bench/callbacks.ts.
   */
  sendersAtOnce: 2_000,
  /**
   * Events. The events in memory that wait to be sent, of all senders. Beyond it: senders read fewer. Tested by:
   * bench/callbacks.ts.
   */
  eventsHeld: 8_000,
  /**
   * Events. The same of one sender, so that others get a share. Beyond it: the sender reads no further. Tested by:
   * bench/callbacks.ts.
   */
  eventsHeldBySender: 100,
  /**
   * Ms. The duration of a callback attempt; protects senders from a receiver that does not answer. Beyond it: the
   * attempt has failed. Tested by: test/faults/callbacks.test.ts.
   */
  attemptMs: 15_000,
  /**
   * Ms. How long the body of a receiver’s response is read; protects senders from a body that does not end. Beyond
   * it: the body is cut. Tested by: test/faults/callbacks.test.ts.
   */
  responseBodyMs: 2_000,
  /**
   * Bytes. The stored part of a receiver’s response; protects the disk. Beyond it: the rest is not stored. Tested by:
   * test/faults/callbacks.test.ts.
   */
  responseBytesKept: 4096,
  /**
   * Ms. How long an idle connection to a receiver is kept; after that its name is looked up again, because it may
   * have moved. Tested by: test/faults/callback-names.test.ts.
   */
  receiverIdleMs: 10_000,
  /**
   * Look-ups. The look-ups of host names at once; protects the resolver. Beyond it: the look-up waits. Tested by:
   * test/faults/callback-names.test.ts.
   */
  namesAtOnce: 256,
  /**
   * Names. The host names whose look-up has failed lately; protects memory. Beyond it: all are forgotten. Tested by:
   * test/faults/callback-names.test.ts.
   */
  namesKnown: 10_000,
  /**
   * Ms. The time between two callback tests of one application; protects receivers. Beyond it: 429 10007. Tested by:
   * test/conformance/deliveries.test.ts.
   */
  testEveryMs: 3_000,
  /**
   * Events. The events of one replay; protects the database. Beyond it: the request is refused: replay shorter ranges.
   * Tested by: test/faults/callback-replays.test.ts.
   */
  replayedAtOnce: 100_000,
  /**
   * Attempts. The stored attempts of a delivery, including its replays; protects the disk. Beyond it: the oldest is
   * removed. Tested by: test/faults/callback-replays.test.ts.
   */
  attemptsKept: 20,

  // What is kept

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
   * Beyond it: the oldest ends. Tested by: test/conformance/tokens.test.ts.
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
   * a loop. Beyond it: one line counts the rest. Tested by: test/conformance/refusal-lines.test.ts.
   */
  refusalLinesAMinute: 20,

  // Signing in

  /**
   * Hashes. The passwords that are hashed at once: a hash takes about 20 ms of a processor, and any client can cause
   * one. Beyond it: the sign-in waits. Tested by: test/faults/sign-in.test.ts.
   */
  hashesAtOnce: 2,
  /**
   * Hashes. The passwords that wait to be hashed; protects memory. Beyond it: 503 50003. Tested by:
   * test/faults/sign-in.test.ts.
   */
  hashesWaiting: 20,
  /**
   * Sign-ins. The sign-ins whose password is checked at once; protects the database and the processors. Beyond it:
   * they wait. Tested by: test/faults/sign-in.test.ts.
   */
  passwordsAtOnce: 2,
  /**
   * Sign-ins. The sign-ins that wait for the check of their password; protects memory, and keeps waiting times
   * bearable. Beyond it: 503 50003. Tested by: test/faults/sign-in.test.ts.
   */
  passwordsWaiting: 40,
  /**
   * Transactions. Those that count sign-in attempts at once in one process; protects the database’s connections, because
   * attempts of one source or name wait for each other. Beyond it: they wait. Tested by: test/faults/sign-in.test.ts.
   */
  attemptsAtOnce: 4,
  /**
   * Transactions. Those that wait to count a sign-in attempt; protects memory. Beyond it: 503 50003. Tested by:
   * test/faults/sign-in.test.ts.
   */
  attemptsWaiting: 1000,
  /**
   * Minutes. The time from the first wrong password or code in which wrong ones are counted; protects accounts. Tested
   * by: test/faults/sign-in.test.ts.
   */
  wrongPasswordMinutes: 15,
  /**
   * Codes in that time. The wrong codes of an account’s second factor, from all sources; protects accounts. Beyond
   * it: 429 10007, for the right code too. Tested by: test/faults/second-factor.test.ts.
   */
  wrongCodes: 10,
  /**
   * Minutes. How long the secret of a code generator may wait for its confirmation. Beyond it: 401 10033. Tested by:
   * test/faults/second-factor.test.ts.
   */
  generatorDraftMinutes: 10,
  /** Passkeys. Those of an account; bounds its rows. Beyond it: 400 10001. Tested by: test/faults/passkeys.test.ts. */
  passkeysOfOne: 20,
  /** Seconds. The life of a passkey’s ticket. Beyond it: 401 10031. Tested by: test/faults/passkeys.test.ts. */
  ticketSeconds: 300,
  /** Seconds. How long a sign-on may take, by its cookie. Beyond it: 10061. Tested by: test/faults/sign-on-callback.test.ts. */
  signOnSeconds: 600,
  /** Ms. How long a request to the provider may take. Beyond it: 10063. Tested by: test/faults/sign-on-lies.test.ts. */
  providerMs: 5_000,
  /**
   * Ms. How long the callback of a sign-on waits for all answers of the provider together. Beyond it: 10063. Tested by:
   * test/faults/sign-on-strangers.test.ts.
   */
  signOnMs: 10_000,
  /**
   * Ms. How long an operation may take that asks the provider. Beyond it: 503 50003. Tested by:
   * test/faults/sign-on-strangers.test.ts.
   */
  signOnAnswerMs: 20_000,
  /**
   * Ms. How long a sign-out waits for the provider’s address to sign out at. Beyond it: it answers none. Tested by:
   * test/faults/sign-on-strangers.test.ts.
   */
  signOutMs: 2_000,
  /**
   * Characters. The ID token that a session keeps for its sign-out, because it becomes a part of an address. Beyond it: the
   * address names the client alone. Tested by: test/faults/sign-on-end.test.ts.
   */
  idTokenKept: 4_096,
  /**
   * Flows. Those that one process remembers to have shown to the provider; protects memory. Beyond it: it forgets the
   * oldest, which the provider refuses. Tested by: test/faults/sign-on-strangers.test.ts.
   */
  signOnsRemembered: 10_000,
  /**
   * Bytes. The size of a provider’s response; protects memory. Beyond it: 10063. Tested by:
   * test/faults/sign-on-callback.test.ts.
   */
  providerBytes: 1024 * 1024,
  /**
   * Requests. The requests of one process to the provider at once. Beyond it: they wait. Tested by:
   * test/faults/sign-on.test.ts.
   */
  providerRequests: 8,
  /** Requests. Those that wait for that; protects memory. Beyond it: 10063. Tested by: test/faults/sign-on.test.ts. */
  providerRequestsWaiting: 256,
  /**
   * Events in that time. The events of refused and locked sign-ins, over all names and sources; protects the disk.
   * Beyond it: more are not stored. Tested by: test/faults/sign-in.test.ts.
   */
  signInEvents: 300,
} as const

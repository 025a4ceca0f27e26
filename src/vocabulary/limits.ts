// The limits of a process and of what it stores, each with a comment in this form: “Unit. What it protects. Past it: the status
// and code, or what happens. Seen by: the test or benchmark.” `npm run generate` makes docs/limits.md of them. Settings stand in
// config.ts, lengths and ranges of the contract's values in values.ts, intervals of background work beside that work.

export const limits = {
  // Bodies and answers

  /** Bytes. Memory, from a body of one request. Past it: 413 10001. Seen by: test/conformance/edge.test.ts. */
  bodyBytes: 64 * 1024,
  /**
   * Bytes. Memory, from the body of a batch; a thousand rows with long names, remarks and addresses fit. Past it:
   * 413 10001. Seen by: test/conformance/batches.test.ts.
   */
  batchBytes: 4 * 1024 * 1024,
  /** Rows. The write path, from one request. Past it: 400 10001. Seen by: test/conformance/batches.test.ts. */
  batchRows: 1000,
  /**
   * Rows. Single creates: rows of a batch that wait in the lane beside them. Past it: the batch’s next rows wait.
   * Seen by: bench/fairness.ts.
   */
  batchRowsInLane: 128,
  /**
   * Rows. The same on a cluster, where a transaction costs more than its rows. Past it: the batch’s next rows wait. Seen
   * by: test/citus/plans.test.ts.
   */
  batchRowsInLaneOnCluster: 256,
  /** Sites. The database, from one summary. Past it: 400 10001. Seen by: test/conformance/placement-pages.test.ts. */
  sitesSummarized: 100,
  /**
   * Meters. The database: how far from a site a device may lie that is suggested for it. Past it: 400 10001. Seen by:
   * test/conformance/placement-pages.test.ts.
   */
  suggestMeters: 5000,
  /** Suggestions. The database. Past it: the nearest are answered. Seen by: test/conformance/placement-pages.test.ts. */
  suggestions: 100,
  /**
   * Placements. The database: those that one statement ends when a site is deleted. Past it: another statement follows.
   * Seen by: test/conformance/placement-ends.test.ts.
   */
  placementsAtOnce: 1000,
  /**
   * Levels. The parser’s stack; no operation takes a deeper body. Past it: 400 10001. Seen by:
   * test/faults/file-bombs.test.ts.
   */
  jsonDepth: 32,
  /**
   * Values. The event loop: members and elements in all, four times the largest import. Past it: 400 10001. Seen by:
   * test/faults/file-bombs.test.ts.
   */
  jsonValues: 100_000,
  /**
   * Members. The event loop, from names that are chosen to be slow to look up in one object. Past it: 400 10001.
   * Seen by: test/faults/file-bombs.test.ts.
   */
  jsonMembers: 1000,
  /**
   * Bytes. The event loop: a longer text fits no member, so only what is ignored holds it. Past it: its escapes are
   * counted. Seen by: test/faults/file-bombs.test.ts.
   */
  jsonLongTextBytes: 64 * 1024,
  /**
   * Escapes. The event loop: in long texts an escape takes a parser twenty times as long as a letter. Past it: 400
   * 10001. Seen by: test/faults/file-bombs.test.ts.
   */
  jsonLongEscapes: 500_000,
  /**
   * Bytes. Other requests: larger bodies are read and checked in slices. Past it: turns of the event loop between
   * slices. Seen by: test/faults/file-bombs.test.ts.
   */
  jsonSlicedBytes: 256 * 1024,
  /**
   * Faults. The event loop, from a body of which everything is wrong. Past it: the first 1,000 are returned. Seen
   * by: test/faults/file-bombs.test.ts.
   */
  faultsShown: 1000,
  /**
   * Items. Other requests: items of a list that are checked without a pause. Past it: a turn of the event loop. Seen
   * by: test/faults/file-bombs.test.ts.
   */
  validatedAtOnce: 256,
  /** Rows. The database and memory, from one page. Past it: 400 10001. Seen by: test/conformance/pages.test.ts. */
  pageRows: 100,
  /**
   * Rows. The database, which walks through all rows before a numbered page. Past it: 400 10001; a cursor has no
   * limit. Seen by: test/conformance/pages.test.ts.
   */
  pageRowsNumbered: 100_000,
  /**
   * Rows. The database: `total` is exact to here. Past it: `totalIsExact` is false. Seen by:
   * test/conformance/pages.test.ts.
   */
  pageRowsCounted: 10_000,
  /**
   * Devices. The database’s memory: devices whose reports, or other rows beside them, fit, of which a search keeps the keys.
   * Past it: the page is read along the index. Seen by: test/device-plans.test.ts.
   */
  joinedDevicesFound: 100_000,
  /**
   * Devices. The database: at the reports of how many devices a search looks that most may match. Past it: a join, unless
   * more than are counted have matched. Seen by: test/device-plans.test.ts.
   */
  joinedDevicesLookedAt: 20_000,
  /**
   * File descriptors. Database, callbacks and log of a Node process, from connections. Past it: the connection that
   * was idle longest closes. Seen by: test/faults/edge-connections.test.ts.
   */
  openFilesKept: 256,
  /**
   * Seconds. Memory, from a reader who takes nothing of a streamed response. Past it: the connection closes. Seen
   * by: test/faults/access-ended.test.ts.
   */
  readerIdleSeconds: 60,

  // Files

  /** Bytes. The database’s disk, from one file. Past it: 413 10001. Seen by: test/faults/import-memory.test.ts. */
  fileBytes: 1024 ** 3,
  /**
   * Files. Memory and processor of a process: uploads and exports under way. Past it: 503 50003. Seen by:
   * test/faults/slow-files.test.ts.
   */
  filesAtOnce: 8,
  /**
   * Files. The places for files, from one application or account. Past it: 429 10007. Seen by:
   * test/faults/slow-files.test.ts.
   */
  filesAtOnceOfOne: 4,
  /**
   * Files. Those who hold no place yet: places beyond the others. Past it: 503 50003. Seen by:
   * test/faults/slow-files.test.ts.
   */
  filesInAll: 32,
  /**
   * Ms. The places for files, from an upload of which nothing comes. Past it: 408 10001. Seen by:
   * test/file-pace.test.ts.
   */
  fileIdleMs: 30_000,
  /**
   * Bytes. Clients that read no answer before they have sent everything: this much of a refused file is still read.
   * Past it: the connection closes. Seen by: test/faults/file-bombs.test.ts.
   */
  fileDrainedBytes: 8 * 1024 * 1024,
  /** Rows. Memory: every step of an import is as small. Past it: the next piece. Seen by: bench/bulk.ts. */
  filePieceRows: 500,
  /** Bytes. Memory: every step of an import is as small. Past it: the next piece. Seen by: bench/bulk.ts. */
  filePieceBytes: 256 * 1024,
  /**
   * Bytes. Memory; no row of any kind comes near it. Past it: the import is refused. Seen by:
   * test/faults/file-bombs.test.ts.
   */
  fileRowBytes: 64 * 1024,
  /**
   * Lines in a row. The event loop: blank lines cost work and hold nothing. Past it: 400 10001. Seen by:
   * test/faults/file-bombs.test.ts.
   */
  fileBlankLines: 10_000,
  /** Rows. Other writers: rows that one transaction decides. Past it: the next portion. Seen by: bench/bulk.ts. */
  importPortionRows: 500,
  /**
   * Rows. Other writers, while they write; more, up to `importPortionRows`, where that many take less than 40 ms. Past it:
   * the next portion. Seen by: bench/bulk.ts.
   */
  importBusyPortionRows: 100,
  /**
   * Imports. Creates: imports that run at once, over all processes. Past it: the import waits. Seen by:
   * bench/bulk.ts.
   */
  importsAtOnce: 2,
  /**
   * Imports. Creates: imports that one process works off at once. Past it: the import waits. Seen by: bench/bulk.ts.
   */
  importsOfProcess: 2,
  /**
   * Failures in a row. The worker, from an import that can never end. Past it: the import ends. Seen by:
   * test/faults/import-kills.test.ts.
   */
  importFailures: 20,
  /**
   * Rows. The disk: a file with more refused rows is the wrong file. Past it: the import ends. Seen by:
   * test/conformance/bulk-imports.test.ts.
   */
  importRefusedRows: 1_000_000,
  /**
   * Rows. Other writers and the lease: rows that an act looks at in one statement, whether they match or not. Past it:
   * the next statement. Seen by: bench/bulk.ts.
   */
  actRowsScanned: 5_000,
  /**
   * Rows. The database: rows of a page of an export. Past it: the next page, after a turn. Seen by:
   * bench/fair-shares.ts.
   */
  exportPageRows: 500,
  /**
   * Devices. A reading place: of how many devices one read of an export looks at the reports. Past it: the next read
   * goes on. Seen by: test/device-plans.test.ts.
   */
  exportRowsWalked: 10_000,
  /** Records. Readers: of each kind in the answer of a search. Seen by: test/conformance/search.test.ts. */
  searchFound: 8,
  /**
   * Rows. A reading place: of each kind that a search looks at for a part of a name or of a serial number. Past it: a page
   * operation finds the rest. Seen by: test/operation-costs.test.ts.
   */
  searchRowsWalked: 30_000,

  // Prices

  /**
   * Price changes. The database: what waits for one billing rule. Past it: 409 40007. Seen by:
   * test/conformance/price-changes.test.ts.
   */
  priceChangesOfRule: 32,
  /**
   * Price changes. The database: what waits of one application. Past it: 409 40007. Seen by:
   * test/conformance/price-changes.test.ts.
   */
  priceChangesOfOne: 200,
  /**
   * Sites. The database, from one price change. Past it: 400 10001. Seen by: test/conformance/price-changes.test.ts.
   */
  priceChangeSites: 10_000,
  /** Sites. Memory: named by their ids. Past it: 400 10001. Seen by: test/conformance/price-changes.test.ts. */
  priceChangeIds: 1000,
  /** Days ahead. Slips of the keyboard. Past it: 400 10001. Seen by: test/conformance/price-changes.test.ts. */
  priceChangeDays: 731,
  /**
   * Sites. Other writers of the application: written by one transaction when a price change takes effect. Past it: the
   * next transaction. Seen by: bench/prices.ts.
   */
  pricePortionSites: 500,

  // Fairness

  /**
   * Reads. The database’s connections: reads of a process that run at once. Past it: the read waits. Seen by:
   * bench/fair-shares.ts.
   */
  readsAtOnce: 5,
  /** Reads. The reads of other owners. Past it: the read waits. Seen by: bench/fair-shares.ts. */
  readsAtOnceOfOne: 2,
  /** Reads. Memory, and the order of others. Past it: 429 10007. Seen by: test/faults/fair-shares.test.ts. */
  readsWaitingOfOne: 128,
  /**
   * Ms. Programs that read page after page: this much of a read counts once, the rest four times. Past it: the owner
   * waits longer. Seen by: test/faults/read-shares.test.ts.
   */
  shortReadMs: 20,
  /**
   * Creates. Creates that queue for their batches: one attempt of a callback for each of these. Past it: the attempt
   * waits. Seen by: bench/callbacks.ts.
   */
  createsPerAttempt: 4,
  /** Attempts a second. Callbacks: these begin at any load of creates. Seen by: bench/callbacks.ts. */
  attemptsPerSecond: 100,
  /**
   * Items. The database: fewer do not begin a batch beside one that is under way. Past it: they wait for its end.
   * Seen by: bench/run.ts.
   */
  batchLeastBeside: 8,
  /** Items. Response times: a batch of this size waits for no further items. Seen by: bench/run.ts. */
  batchWellFilled: 32,
  /** Look-ups. Memory, from invented tokens. Past it: 503 50003. Seen by: test/faults/outages.test.ts. */
  callersWaiting: 10_000,
  /** Callers. Memory. Past it: the oldest is looked up again. Seen by: test/faults/outages.test.ts. */
  callersKnown: 200_000,
  /**
   * Ms. Revocations: within the contract’s second every process knows them. Past it: the caller is looked up again.
   * Seen by: test/faults/freeze.test.ts.
   */
  callersTrustedMs: 900,

  // Callbacks

  /**
   * Endpoints. A process: endpoints that it sends to side by side. Past it: the endpoint waits. Seen by:
   * bench/callbacks.ts.
   */
  sendersAtOnce: 2_000,
  /**
   * Events. Memory: events that wait in it, over all senders. Past it: senders read fewer. Seen by:
   * bench/callbacks.ts.
   */
  eventsHeld: 8_000,
  /** Events. Other senders’ share of that memory. Past it: the sender reads no further. Seen by: bench/callbacks.ts. */
  eventsHeldBySender: 100,
  /**
   * Ms. Senders, from a receiver that does not answer. Past it: the attempt failed. Seen by:
   * test/faults/callbacks.test.ts.
   */
  attemptMs: 15_000,
  /**
   * Ms. Senders, from a response whose body does not end. Past it: the body is cut. Seen by:
   * test/faults/callbacks.test.ts.
   */
  responseBodyMs: 2_000,
  /**
   * Bytes. The disk, from a receiver’s responses. Past it: the rest is not kept. Seen by:
   * test/faults/callbacks.test.ts.
   */
  responseBytesKept: 4096,
  /**
   * Ms. Receivers that move: an idle connection closes, so that the name is looked up again. Seen by:
   * test/faults/callback-names.test.ts.
   */
  receiverIdleMs: 10_000,
  /** Look-ups. The resolver. Past it: the look-up waits. Seen by: test/faults/callback-names.test.ts. */
  namesAtOnce: 256,
  /**
   * Names. Memory: names whose look-up failed lately. Past it: all are forgotten. Seen by:
   * test/faults/callback-names.test.ts.
   */
  namesKnown: 10_000,
  /**
   * Ms. Receivers: between two tests of one application. Past it: 429 10007. Seen by:
   * test/conformance/deliveries.test.ts.
   */
  testEveryMs: 3_000,
  /**
   * Deliveries. The database, from one replay. Past it: they are replayed in several calls. Seen by:
   * test/faults/callback-replays.test.ts.
   */
  replayedAtOnce: 100_000,
  /**
   * Attempts. The disk: kept of a delivery over all its replays. Past it: the oldest goes. Seen by:
   * test/faults/callback-replays.test.ts.
   */
  attemptsKept: 20,

  // What is kept

  /**
   * Tokens. The database, from an application that asks for a token each time. Past it: the oldest ends. Seen by:
   * test/conformance/tokens.test.ts.
   */
  tokensOfOne: 1000,
  /** Sessions. The database, from an account. Past it: the oldest ends. Seen by: test/conformance/sessions.test.ts. */
  sessionsOfOne: 20,
  /**
   * Browsers. The database, from an account. Past it: the oldest is forgotten. Seen by:
   * test/conformance/sessions.test.ts.
   */
  browsersOfOne: 20,
  /** Views. The database, from an account. Past it: 400 10001. Seen by: test/conformance/views.test.ts. */
  viewsOfOne: 50,
  /**
   * Refusals. The disk, from an application that is always refused. Past it: the oldest goes. Seen by:
   * test/conformance/refusal-log.test.ts.
   */
  refusalsOfOne: 1000,
  /**
   * Refusals a minute. The database: of one application, over all processes. Past it: they are not kept. Seen by:
   * test/conformance/refusal-log.test.ts.
   */
  refusalsAMinute: 300,
  /**
   * Refusals. Memory: those that wait for the database. Past it: they are not kept. Seen by:
   * test/faults/outages.test.ts.
   */
  refusalsWaiting: 2000,
  /**
   * Faulty members. The disk: kept of one refusal. Past it: the first are kept. Seen by:
   * test/conformance/refusal-log.test.ts.
   */
  refusalErrors: 32,
  /**
   * Lines of a kind a minute. The log, from clients that are refused in a loop. Past it: one line counts the rest.
   * Seen by: test/conformance/refusal-lines.test.ts.
   */
  refusalLinesAMinute: 20,

  // Signing in

  /**
   * Hashes. The processors: a hash takes about 20 ms of one, and any client can cause it. Past it: the sign-in waits.
   * Seen by: test/faults/sign-in.test.ts.
   */
  hashesAtOnce: 2,
  /** Hashes. Memory. Past it: 503 50003. Seen by: test/faults/sign-in.test.ts. */
  hashesWaiting: 20,
  /** Sign-ins. The database and the processors: passwords that are checked at once. Past it: they wait. Seen by: test/faults/sign-in.test.ts. */
  passwordsAtOnce: 2,
  /** Sign-ins. Memory, and the patience of those who wait. Past it: 503 50003. Seen by: test/faults/sign-in.test.ts. */
  passwordsWaiting: 40,
  /**
   * Statements. The database’s connections, from sign-ins of one source or name, which wait for each other. Past it: they wait.
   * Seen by: test/faults/sign-in.test.ts.
   */
  attemptsAtOnce: 4,
  /** Statements. Memory. Past it: 503 50003. Seen by: test/faults/sign-in.test.ts. */
  attemptsWaiting: 1000,
  /** Minutes. Accounts: for how long a wrong password counts. Seen by: test/faults/sign-in.test.ts. */
  wrongPasswordMinutes: 15,
  /**
   * Codes in that time. Accounts: wrong codes of a second factor, from everywhere. Past it: 429 10007, for the right code
   * too. Seen by: test/faults/second-factor.test.ts.
   */
  wrongCodes: 10,
  /**
   * Minutes. Secrets of code generators that were shown and not confirmed. Past it: 401 10033. Seen by:
   * test/faults/second-factor.test.ts.
   */
  generatorDraftMinutes: 10,
  /** Passkeys. The database, from an account. Past it: 400 10001. Seen by: test/faults/passkeys.test.ts. */
  passkeysOfOne: 20,
  /** Seconds. Tickets of passkeys: how long each may be used. Past it: 401 10031. Seen by: test/faults/passkeys.test.ts. */
  ticketSeconds: 300,
  /** Seconds. The cookie of a sign-on that is under way. Past it: 10061. Seen by: test/faults/sign-on-callback.test.ts. */
  signOnSeconds: 600,
  /** Ms. Sign-ons, from a provider that does not answer. Past it: 10063. Seen by: test/faults/sign-on-lies.test.ts. */
  providerMs: 5_000,
  /** Bytes. Memory, from a provider’s answers. Past it: 10063. Seen by: test/faults/sign-on-callback.test.ts. */
  providerBytes: 1024 * 1024,
  /** Requests. The provider: from one process at once. Past it: they wait. Seen by: test/faults/sign-on.test.ts. */
  providerRequests: 8,
  /** Requests. Memory: those that wait for the provider. Past it: 10063. Seen by: test/faults/sign-on.test.ts. */
  providerRequestsWaiting: 256,
  /**
   * Events in that time. The disk: refused and locked sign-ins, over all names and sources. Past it: they are not
   * logged. Seen by: test/faults/sign-in.test.ts.
   */
  signInEvents: 300,
} as const

export const requestLimits = {
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
   * 10001. Tested by: test/faults/large-files.test.ts.
   */
  jsonDepth: 32,
  /**
   * Values. The members and elements of a JSON body (the largest import of the inventory has about 60,000); protects the
   * event loop. Beyond it: 400 10001. Tested by: test/faults/large-files.test.ts.
   */
  jsonValues: 100_000,
  /**
   * Members. The members of one JSON object; protects the event loop from names that are chosen to be slow to look
   * up. Beyond it: 400 10001. Tested by: test/faults/large-files.test.ts.
   */
  jsonMembers: 1000,
  /**
   * Bytes. The length from which the escapes of a JSON text are counted: no member takes a longer text. Protects the
   * event loop. Beyond it: its escapes are counted. Tested by: test/faults/large-files.test.ts.
   */
  jsonLongTextBytes: 64 * 1024,
  /**
   * Escapes. The escapes in the long texts of a body: there, an escape takes a parser twenty times as long as a
   * letter. Protects the event loop. Beyond it: 400 10001. Tested by: test/faults/large-files.test.ts.
   */
  jsonLongEscapes: 500_000,
  /**
   * Bytes. The size from which a body is parsed and validated in slices; protects other requests. Beyond it: the
   * event loop takes turns between slices. Tested by: test/faults/large-files.test.ts.
   */
  jsonSlicedBytes: 256 * 1024,
  /**
   * Faults. The faults that are reported for one body; protects the event loop. Beyond it: the first 1,000 are
   * returned. Tested by: test/faults/large-files.test.ts.
   */
  faultsShown: 1000,
  /**
   * Items. The items of a list that are validated without a pause; protects other requests. Beyond it: a turn of the
   * event loop. Tested by: test/faults/large-files.test.ts.
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
   * memory. Beyond it: the page is read along the index. Tested by: test/device-searches.test.ts.
   */
  joinedDevicesFound: 100_000,
  /**
   * Devices. The devices whose reports a search samples if most devices may match; protects the database. Beyond it:
   * the search uses a join, unless more than `pageRowsCounted` have matched. Tested by: test/device-searches.test.ts.
   */
  joinedDevicesLookedAt: 20_000,
  /**
   * Bytes. The head of a request: a query that names 100 serial numbers of 64 characters, each of four bytes and
   * percent-encoded (77,000), fits. Protects memory. Beyond it: 431 10001. Tested by: test/conformance/wire.test.ts.
   */
  headBytes: 96 * 1024,
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
} as const

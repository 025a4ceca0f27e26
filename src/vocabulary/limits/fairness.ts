export const fairnessLimits = {
  /**
   * Requests. The requests that begin in one turn of the event loop while several callers use the service; what others wait
   * for comes between the turns. Beyond it: the request waits for the next turn. Tested by: src/http/pace.test.ts.
   */
  requestsInTurn: 256,
  /**
   * Requests. Those of one caller. Beyond it: the request waits for the next turn. Tested by:
   * test/faults/neighbours.test.ts.
   */
  requestsOfOneInTurn: 32,
  /**
   * Responses. Those from memory to one caller, or to one address without one, and operation. Beyond it: the response waits
   * for the next turn. Tested by: test/faults/neighbours.test.ts.
   */
  responsesOfOneInTurn: 4,
  /**
   * Requests. One caller’s waiting requests that make it a crowd, or half of its places if these are fewer; below it a
   * caller is as fast beside others as it was. Beyond it: fewer of its requests begin in a turn, and are carried out at
   * once. Tested by: test/faults/neighbours.test.ts.
   */
  crowd: 256,
  /**
   * Requests. The requests of a crowd that begin in one turn of the event loop. Beyond it: the request waits for the next
   * turn. Tested by: test/faults/neighbours.test.ts.
   */
  requestsOfCrowdInTurn: 4,
  /**
   * Writes. The writes out of turn of a crowd and one operation that are carried out at once while others use the service:
   * others’ writes wait for their batch. Beyond it: the write waits. Tested by: test/faults/neighbours.test.ts.
   */
  outOfTurnAtOnceOfCrowd: 4,
  /**
   * Requests. The requests for metrics of one operator that are answered at once; each takes the event loop for
   * milliseconds. Beyond it: the next waits. Tested by: test/faults/neighbours.test.ts.
   */
  scrapesOfOne: 1,
  /**
   * Requests. Those that wait. Beyond it: 429 10007. Tested by: test/faults/neighbours.test.ts.
   */
  scrapesWaitingOfOne: 16,
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
   * stay below it. Beyond it: the owner waits longer. Tested by: test/faults/neighbours.test.ts.
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
   * Writes. The writes out of turn (of lanes, and tokens) of one owner and operation that are carried out at once while
   * others use the service; keeps the event loop free for them. Beyond it: the write waits. Tested by:
   * test/faults/neighbours.test.ts.
   */
  outOfTurnAtOnceOfOne: 32,
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
  batchItemsOfOneBeside: 32,
  /**
   * Items. The same on a cluster, where a transaction costs more than its items. Beyond it: its other items wait for the
   * next batch. Tested by: test/citus/plans.test.ts.
   */
  batchItemsOfOneBesideOnCluster: 128,
  /**
   * Milliseconds. How long a batch waits for the lock of one application; the others in it wait as long. Beyond it: they
   * are written without it, and its items wait for a batch of their own. Tested by: test/faults/write-shares.test.ts.
   */
  laneLockMs: 25,
  /**
   * Requests. The requests with large bodies (over 64 KiB) of one caller whose bodies are read and carried out at once; each
   * takes the event loop for milliseconds. Beyond it: the next waits, unread. Tested by: test/faults/write-shares.test.ts.
   */
  largeBodiesOfOne: 4,
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
} as const

export const callbackLimits = {
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
} as const

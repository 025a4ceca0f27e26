export const signInLimits = {
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
   * Sign-ins. Those of one source (an address, or an IPv6 network of 64 bits) among them. Beyond it: 503 50003. Tested
   * by: test/faults/sign-in.test.ts.
   */
  passwordsWaitingOfOne: 20,
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
   * Ms. How long an attempt that would be past a limit with those under way waits for them, in all processes; a sign-on
   * waits for `signOnMs`. Beyond it: 429 10007. Tested by: test/faults/sign-on-callback.test.ts.
   */
  attemptWaitMs: 3_000,
  /**
   * Seconds. How long an attempt may be under way; protects accounts from those whose process was killed. Beyond it: it
   * counts as a failure. Tested by: test/faults/sign-on-callback.test.ts.
   */
  attemptSeconds: 30,
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
  /** Passkeys. Those of an account; bounds its rows. Beyond it: 400 10001. Tested by: test/faults/second-factor.test.ts. */
  passkeysOfOne: 20,
  /** Seconds. The life of a passkey’s ticket. Beyond it: 401 10031. Tested by: test/faults/second-factor.test.ts. */
  ticketSeconds: 300,
  /** Seconds. How long a sign-on may take, by its cookie. Beyond it: 10061. Tested by: test/faults/sign-on-callback.test.ts. */
  signOnSeconds: 600,
  /** Ms. How long a request to the provider may take. Beyond it: 10063. Tested by: test/faults/sign-on-lies.test.ts. */
  providerMs: 5_000,
  /**
   * Ms. How long the callback of a sign-on waits for all answers of the provider together. Beyond it: 10063. Tested by:
   * test/faults/sign-on-callback.test.ts.
   */
  signOnMs: 10_000,
  /**
   * Ms. How long an operation may take that asks the provider. Beyond it: 503 50003. Tested by:
   * test/faults/sign-on-callback.test.ts.
   */
  signOnAnswerMs: 35_000,
  /**
   * Ms. How long a sign-out waits for the provider’s address to sign out at. Beyond it: it answers none. Tested by:
   * test/faults/sign-on-callback.test.ts.
   */
  signOutMs: 2_000,
  /**
   * Characters. The ID token that a session keeps for its sign-out, because it becomes a part of an address. Beyond it: the
   * address names the client alone. Tested by: test/faults/sign-on.test.ts.
   */
  idTokenKept: 4_096,
  /**
   * Flows. Those that one process remembers to have shown to the provider; protects memory. Beyond it: it forgets the
   * oldest, which the provider refuses. Tested by: test/faults/sign-on-callback.test.ts.
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

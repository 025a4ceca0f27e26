export const priceLimits = {
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
} as const

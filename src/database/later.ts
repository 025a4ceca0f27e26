/**
 * SQL: a moment so much later. The sum of both as they are depends on the session's time zone, and where many machines
 * share the tables an update may depend on nothing but its row.
 */
export const later = (moment: string, interval: string) =>
  `((${moment} at time zone 'UTC' + ${interval}) at time zone 'UTC')`

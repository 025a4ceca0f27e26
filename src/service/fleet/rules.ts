/** The fleet is counted at most this often, by one of all processes. */
export const roundMs = 15_000

/** Bounds keep the metrics of a large fleet small. What they leave out is counted. */
export const namedApplications = 500
export const listedOfOne = 200
export const listedOfAll = 1_000

/** How long a device counts as just gone offline. */
export const goneSeconds = 1800

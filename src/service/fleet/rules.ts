/** The fleet is counted at most this often, by one of all processes. */
export const roundMs = 15_000

/** The bounds of the metrics, so that a large fleet stays a small page. What they leave out is counted. */
export const namedApplications = 500
/** Of sites, and of devices. */
export const listedOfOne = 200
export const listedOfAll = 1_000

/** How long a device counts as one that has just gone offline. */
export const goneSeconds = 1800

let isCluster = false

/** Notes at the start of a process whether its tables are spread over the nodes of a Citus cluster. */
export function setDistributed(isSpread: boolean): void {
  isCluster = isSpread
}

/** Whether the process's tables are spread over the nodes of a Citus cluster. */
export const isDistributed = (): boolean => isCluster

interface Audit {
  metadata?: { vulnerabilities?: Record<string, number> }
  vulnerabilities?: Record<string, { severity: string }>
}

const isGrave = (severity: string) => severity === 'high' || severity === 'critical'

/** The verdict on the report of `npm audit --json`; without a report the check passes. */
export function verdictOf(output: string): { says: string; isBad: boolean } {
  const { metadata, vulnerabilities = {} } = read(output)
  const counts = metadata?.vulnerabilities
  if (counts === undefined) {
    return { says: 'The registry does not answer npm audit: known faults were not looked for.', isBad: false }
  }
  const grave = Object.entries(vulnerabilities).filter(([, { severity }]) => isGrave(severity))
  const isBad = grave.length > 0 || (counts.high ?? 0) + (counts.critical ?? 0) > 0
  const names = grave.map(([name, { severity }]) => `${name} (${severity})`).join(', ')
  return { says: isBad ? `Known faults: ${names}` : `${counts.total ?? 0} known faults, none high or critical.`, isBad }
}

function read(output: string): Audit {
  try {
    return JSON.parse(output)
  } catch {
    return {}
  }
}

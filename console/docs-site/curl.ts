interface Call {
  isGet: boolean
  path: string
  /** The ways to say who calls. */
  schemes: readonly string[]
  /** `name=value`, of the members that must be given. */
  query: readonly string[]
  /** The media type of the body. */
  mediaType: string | undefined
  /** A body of JSON; without one the body is a file. */
  example: unknown
}

/** A request as one types it into a shell, whose variables hold what the reader has of their own. */
export function curl({ isGet, path, schemes, query, mediaType, example }: Call): string {
  const isShort = isGet || query.length === 0
  const lines = [
    `curl -s ${isGet && query.length > 0 ? '-G ' : ''}"$FORECOURT_URL${path}${isShort ? '' : `?${query.join('&')}`}"`,
    ...credential(schemes),
    ...(mediaType === undefined ? [] : [`-H 'Content-Type: ${mediaType}'`, bodyOf(example)]),
    ...(isGet ? query.map((member) => `-d '${member}'`) : []),
  ]
  return lines.join(' \\\n  ')
}

function credential(schemes: readonly string[]): string[] {
  if (schemes.includes('accessToken')) return ['-H "Authorization: Bearer $TOKEN"']
  return schemes.includes('operatorKey') ? ['-H "Authorization: Bearer $FORECOURT_OPERATOR_KEY"'] : []
}

const bodyOf = (example: unknown) =>
  example === undefined ? '--data-binary @FILE' : `-d '${JSON.stringify(example).replaceAll("'", String.raw`'\''`)}'`

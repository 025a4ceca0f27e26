interface Envelope {
  code: number
  msg: string
  data: unknown
}

/** The envelope of an answer; undefined for any other text. */
export function envelopeOf(text: string): Envelope | undefined {
  try {
    return JSON.parse(text) as Envelope
  } catch {
    return undefined
  }
}

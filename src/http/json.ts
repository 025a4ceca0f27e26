import type { Reason } from '../refusals.ts'

/** Deeper than any body that an operation takes, and far below what could exhaust a parser's stack. */
const maxDepth = 32
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A body that is not one unambiguous JSON text. */
export class JsonFault extends Error {
  readonly reason: Reason
  constructor(reason: Reason) {
    super(reason.en)
    this.reason = reason
  }
}

/**
 * Reads a JSON body strictly: valid UTF-8 (nothing is replaced), no member named twice (parsers differ on which one
 * wins, so a retry or a proxy could mean another request), no nesting beyond 32. Throws `JsonFault`.
 */
export function parseJson(bytes: Uint8Array): unknown {
  let source: string
  try {
    source = decoder.decode(bytes)
  } catch {
    throw new JsonFault({ en: 'is not valid UTF-8', zh: '不是有效的 UTF-8' })
  }
  const written = countMembers(source)
  if (written < 0)
    throw new JsonFault({ en: `is nested deeper than ${maxDepth} levels`, zh: `嵌套超过 ${maxDepth} 层` })
  let value: unknown
  try {
    value = JSON.parse(source)
  } catch {
    throw new JsonFault({ en: 'is not valid JSON', zh: '不是有效的 JSON' })
  }
  if (keptMembers(value) !== written) {
    throw new JsonFault({ en: 'names a member of an object twice', zh: '对象中有重复的成员名' })
  }
  return value
}

const quote = 34
const backslash = 92
const colon = 58

/** How many members the text writes, or −1 when it nests too deep. One pass that jumps over strings. */
function countMembers(source: string): number {
  let members = 0
  let depth = 0
  for (let at = 0; at < source.length; at++) {
    switch (source.charCodeAt(at)) {
      case quote:
        at = endOfString(source, at)
        break
      case colon:
        members++
        break
      case 91: // [
      case 123: // {
        if (++depth > maxDepth) return -1
        break
      case 93: // ]
      case 125: // }
        depth--
    }
  }
  return members
}

function endOfString(source: string, start: number): number {
  let end = start
  for (;;) {
    end = source.indexOf('"', end + 1)
    if (end === -1) return source.length
    let escapes = 0
    while (source.charCodeAt(end - 1 - escapes) === backslash) escapes++
    if (escapes % 2 === 0) return end
  }
}

function keptMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const children = Object.values(value)
  let members = Array.isArray(value) ? 0 : children.length
  for (const child of children) if (typeof child === 'object') members += keptMembers(child)
  return members
}

import type { RegionRecord } from './contract.ts'
import { divisionName, divisions } from './names.ts'

interface Region {
  code: string
  name: string
  /** 1 province, 2 city, 3 district. */
  level: number
  children: Region[]
}

const regions = new Map<string, Region>(
  divisions.map(({ code, name }) => [code, { code, name, level: levelOf(code), children: [] }]),
)
const provinces: Region[] = []
// The table ascends, so children are in order too.
for (const region of regions.values()) {
  const parent = regions.get(parentCodeOf(region.code) ?? '')
  ;(parent?.children ?? provinces).push(region)
}
const wholeTree = JSON.stringify({ list: provinces })

/**
 * The regions below one, or all of them, as JSON text with `depth` levels; undefined for an unknown code. The answers
 * that all callers ask for are composed once.
 */
export function regionTree(code: string | null, depth: number): string | undefined {
  if (code === null && depth >= 3) return wholeTree
  const list = code === null ? provinces : regions.get(code)?.children
  return list && JSON.stringify({ list: cut(list, depth) })
}

/** One region; undefined for a code that the table does not have. */
export function findRegion(code: string): RegionRecord | undefined {
  const region = regions.get(code)
  if (region === undefined) return undefined
  const { name, level } = region
  return { code, name, level, parentCode: parentCodeOf(code), fullName: fullNameOf(code) }
}

/** Two digits a level; zeros at the end say that the code ends earlier. */
function levelOf(code: string): number {
  if (code.endsWith('0000')) return 1
  return code.endsWith('00') ? 2 : 3
}

/**
 * The nearest region above that the table has. Every district of this edition has its city; where an edition leaves
 * one out, its districts belong to the province directly.
 */
function parentCodeOf(code: string): string | null {
  const above = [`${code.slice(0, 4)}00`, `${code.slice(0, 2)}0000`].slice(levelOf(code) === 3 ? 0 : 1)
  return above.find((candidate) => candidate !== code && divisionName(candidate) !== null) ?? null
}

/**
 * Some cities of the table are no places but headings for their districts: 110100 repeats the municipality's name
 * (北京市), 500200 only says 县, 429000 省直辖县级行政区划. They stay in the tree, because addresses carry their codes and their
 * districts hang below them; but no address is written with them, so a full name is without them.
 */
const heading = /^县$|直辖县级行政区划$/

function fullNameOf(code: string): string {
  const names: string[] = []
  for (let at: string | null = code; at !== null; at = parentCodeOf(at)) {
    const name = divisionName(at) ?? ''
    const isHeading = at !== code && heading.test(name)
    if (!isHeading && name !== names[0]) names.unshift(name)
  }
  return names.join('')
}

function cut(list: readonly Region[], depth: number): Region[] {
  return list.map((region) => ({ ...region, children: depth > 1 ? cut(region.children, depth - 1) : [] }))
}

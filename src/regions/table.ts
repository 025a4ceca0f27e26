import { builtInRegions, tableDate } from './built-in.ts'
import type { RegionRecord, SavedRegionRecord } from './contract.ts'

export type SavedRegion = Pick<SavedRegionRecord, 'code' | 'name' | 'parentCode' | 'isEnded'>

interface Node {
  code: string
  name: string
  level: number
  children: Node[]
}

interface Region extends Node {
  parentCode: string | null
  isEnded: boolean
}

/** Two digits a level; zeros at the end say that the code ends earlier. 1 province, 2 city, 3 district. */
export function levelOf(code: string): number {
  if (code.endsWith('0000')) return 1
  return code.endsWith('00') ? 2 : 3
}

/** The nearest first. */
export function codesAbove(code: string): string[] {
  const above = [`${code.slice(0, 4)}00`, `${code.slice(0, 2)}0000`]
  return above.slice(levelOf(code) === 3 ? 0 : levelOf(code) === 2 ? 1 : 2)
}

/**
 * Some cities of the table are no places but headings for their districts: 110100 repeats the municipality's name
 * (北京市), 500200 only says 县, 429000 省直辖县级行政区划. They stay in the tree, because addresses carry their codes and their
 * districts hang below them; but no address is written with them, so a full name is without them.
 */
const heading = /^县$|直辖县级行政区划$/

/** Saved regions count before the national table. */
export class RegionTable {
  private readonly regions = new Map<string, Region>()
  private readonly provinces: Region[] = []
  private wholeTree: string | undefined

  constructor(saved: readonly SavedRegion[]) {
    for (const [code, { name, isEnded }] of builtInRegions) this.add({ code, name, isEnded, parentCode: null })
    for (const region of saved) this.add(region)
    for (const region of this.sorted()) {
      region.parentCode ??= codesAbove(region.code).find((code) => this.regions.has(code)) ?? null
      if (!region.isEnded) this.hang(region)
    }
  }

  /** Below an ended region, which is in no tree, and also below the nearest one above that has not ended. */
  private hang(region: Region): void {
    let parent = this.regions.get(region.parentCode ?? '')
    while (parent?.isEnded) {
      parent.children.push(region)
      parent = this.regions.get(parent.parentCode ?? '')
    }
    const siblings = parent?.children ?? this.provinces
    siblings.push(region)
  }

  nameOf(code: string): string | null {
    return this.regions.get(code)?.name ?? null
  }

  /** Also an ended one; undefined for an unknown code. */
  find(code: string): RegionRecord | undefined {
    const region = this.regions.get(code)
    if (region === undefined) return undefined
    const { name, level, parentCode } = region
    return { code, name, level, parentCode, fullName: this.fullNameOf(region) }
  }

  /** JSON text without ended regions; undefined for an unknown code. The usual response is kept. */
  tree(code: string | null, depth: number): string | undefined {
    if (code === null && depth >= 3) {
      this.wholeTree ??= text(this.provinces, 3)
      return this.wholeTree
    }
    const list = code === null ? this.provinces : this.regions.get(code)?.children
    return list && text(list, depth)
  }

  private add({ code, name, parentCode, isEnded }: SavedRegion): void {
    this.regions.set(code, { code, name, parentCode, isEnded, level: levelOf(code), children: [] })
  }

  private sorted(): Region[] {
    return [...this.regions.values()].sort((a, b) => Number(a.code) - Number(b.code))
  }

  private fullNameOf(region: Region): string {
    const names: string[] = []
    for (let at: Region | undefined = region; at !== undefined; at = this.regions.get(at.parentCode ?? '')) {
      const isHeading = at !== region && heading.test(at.name)
      if (!isHeading && at.name !== names[0]) names.unshift(at.name)
    }
    return names.join('')
  }
}

const text = (list: readonly Region[] | Node[], depth: number) => JSON.stringify({ list: cut(list, depth), tableDate })

function cut(list: readonly Node[], depth: number): Node[] {
  return list.map(({ code, name, level, children }) => ({
    ...{ code, name, level },
    children: depth > 1 ? cut(children, depth - 1) : [],
  }))
}

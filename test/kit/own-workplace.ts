import { afterAll } from 'bun:test'
import { Workplace } from './workplace.ts'

/** The workplace of a test file, which is cleared after its tests. */
export function ownWorkplace(parent?: string): Workplace {
  const place = new Workplace(parent)
  afterAll(() => place.clear(), 120_000)
  return place
}

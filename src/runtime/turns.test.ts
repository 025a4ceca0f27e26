import { expect, test } from 'bun:test'
import { Company } from './company.ts'
import { nextTurn } from './event-loop.ts'
import { Turns } from './turns.ts'

test('work whose caller has hung up by the time that it would wait is refused at once, and never begins', async () => {
  const turns = new Turns({ ofOne: 1, full: () => new Error('full') })
  const { promise: first, resolve: endFirst } = Promise.withResolvers<void>()
  const running = turns.run('one', undefined, () => first)
  let hasBegun = false
  const gone = { isAborted: false, signal: AbortSignal.abort() }
  const refused = turns.run('one', gone, async () => {
    hasBegun = true
  })
  expect(await refused.catch((error) => error)).toMatchObject({ refusal: 'unavailable' })
  endFirst()
  await running
  expect(hasBegun).toBe(false)
  // It has left nothing behind.
  expect(await turns.run('one', undefined, async () => 'next')).toBe('next')
})

test('beside others, few of a crowd run at once, and more again when it is none', async () => {
  const company = new Company()
  const turns = new Turns({
    ofOne: 8,
    ofOneAlone: 100,
    ofOneCrowded: 2,
    crowd: 10,
    company,
    full: () => new Error('full'),
  })
  const ends: (() => void)[] = []
  const ask = (name: string) => turns.run(name, undefined, () => new Promise<void>((resolve) => ends.push(resolve)))
  const endAll = async () => {
    for (const end of ends.splice(0)) end()
    await nextTurn()
  }
  company.note('other')
  const asked = Array.from({ length: 20 }, () => ask('many'))
  expect(ends.length).toBe(8)
  await endAll()
  // Twelve waited: two of them run, and as no more than ten wait then, others follow.
  expect(ends.length).toBe(8)
  asked.push(...Array.from({ length: 20 }, () => ask('many')))
  await endAll()
  expect(ends.length).toBe(2)
  asked.push(ask('other'))
  expect(ends.length).toBe(3)
  while (ends.length > 0) await endAll()
  await Promise.all(asked)
})

test('work may keep its place for longer than it takes', async () => {
  const turns = new Turns({ ofOne: 1, restAfter: nextTurn, full: () => new Error('full') })
  const begun: string[] = []
  const ask = (what: string) => turns.run('one', undefined, async () => begun.push(what))
  const asked = [ask('first'), ask('second')]
  await asked[0]
  await Promise.resolve()
  expect(begun).toEqual(['first'])
  await Promise.all(asked)
  expect(begun).toEqual(['first', 'second'])
})

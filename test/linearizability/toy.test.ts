import { expect, test } from 'bun:test'
import { becomesTrue, seed } from '../faults/support.ts'
import { type Exchange, judge } from './checker.ts'
import { Recorder } from './recorder.ts'
import { Toy, type ToyFault, toyFaults } from './toy.ts'

async function record(fault: ToyFault | undefined, from = seed): Promise<Recorder> {
  const toy = new Toy(fault, from)
  const url = await toy.start()
  const recorder = new Recorder({
    addresses: () => [url],
    operatorKey: 'operator',
    apps: ['a', 'b', 'c'].map((appId) => ({ appId, token: appId })),
    clients: 8,
    serials: 3,
    exchangesOfASerial: 80,
    seed: from,
    patienceMs: 5000,
    pauseMs: 20,
  })
  await becomesTrue(() => recorder.answered > 600)
  await recorder.finish()
  toy.stop()
  return recorder
}

const verdictsOf = ({ histories }: Recorder) => [...histories.values()].map((history: Exchange[]) => judge(history))

test(`a right service in memory, whose connections break, has an order for each serial (seed ${seed})`, async () => {
  const recorder = await record(undefined)
  expect(verdictsOf(recorder).filter((verdict) => verdict !== 'has an order')).toEqual([])
  // The history contains the cases that matter.
  expect(recorder.unknown).toBeGreaterThan(10)
  expect(recorder.replayed).toBeGreaterThan(5)
  const told = ['create 0', 'create 20013', 'create 20017', 'unbind 0', 'unbind 20002', 'transfer 0', 'transfer 20002']
  expect(Object.keys(recorder.codes)).toEqual(expect.arrayContaining([...told, 'transfer 20017', 'detail 0']))
})

test.each([...toyFaults])(`a service with the fault "%s" is found out (seed ${seed})`, async (fault) => {
  // Whether a request shows the fault is chance, so several short histories are tried.
  const verdicts: string[] = []
  for (let tried = 0; tried < 6 && !verdicts.includes('has no order'); tried++) {
    verdicts.push(...verdictsOf(await record(fault, seed + tried)))
  }
  expect(verdicts).toContain('has no order')
})

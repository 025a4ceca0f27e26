import { expect, test } from 'bun:test'
import { target } from '../kit/client.ts'
import { newApplication } from '../kit/records.ts'

const client = await target()
const { appId, appSecret } = await newApplication(client)

test('how long a refusal takes tells neither whether a client is known nor how much of its secret is right', async () => {
  const last = appSecret.endsWith('A') ? 'B' : 'A'
  const attempts = {
    unknown: [appId.split('').reverse().join(''), appSecret],
    wrong: [appId, 'x'.repeat(appSecret.length)],
    nearly: [appId, appSecret.slice(0, -1) + last],
  } as const
  const kinds = Object.keys(attempts) as (keyof typeof attempts)[]
  const spread = async () => {
    const times = { unknown: [] as number[], wrong: [] as number[], nearly: [] as number[] }
    for (let round = 0; round < 120; round++) {
      for (const kind of kinds) {
        const [client_id, client_secret] = attempts[kind]
        const began = performance.now()
        const { code } = await client.call('issueToken', { grant_type: 'client_credentials', client_id, client_secret })
        times[kind].push(performance.now() - began)
        expect(code).toBe(10030)
      }
    }
    const medians = kinds.map((kind) => times[kind].toSorted((a, b) => a - b)[60] as number)
    return Math.max(...medians) / Math.min(...medians)
  }
  // One more hash or query for some of the attempts would take several times as long in each round; the load of another
  // test would not.
  const spreads: number[] = []
  while (spreads.length < 4 && !(Math.min(...spreads) < 1.5)) spreads.push(await spread())
  expect(Math.min(...spreads)).toBeLessThan(1.5)
})

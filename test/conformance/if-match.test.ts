import { describe, expect, test } from 'bun:test'
import { operations } from '../../src/reference/operations.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { measuredOf } from '../costs/operations.ts'
import { client, expectRefusal, expectSuccess, newBareApplication, newDevice, newRule, newSite } from './support.ts'
import { newWorld } from './world.ts'

// `If-Match` (contract §5): a write with the ETag of the detail goes through while the record is the one that was read.
// Every operation that takes it, with the calls of test/costs/operations.ts.

const world = await newWorld()
const { owner } = world

const conditional = operations.filter((operation) => operation.conditional)

/** The operation of the first of these names in the write’s folder. Throws if there is none. */
function besideOf({ id, path }: Operation, ...names: string[]): Operation {
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  const found = names.flatMap((name) => operations.filter((other) => other.path === folder + name))[0]
  if (found === undefined) throw new Error(`${id} takes If-Match, but ${folder} has no ${names.join(' and no ')}`)
  return found
}

/** The record that the write’s call in test/costs/operations.ts names, and what may be done with it. */
async function recordOf(write: Operation) {
  const [detail, update] = [besideOf(write, 'detail'), besideOf(write, 'update', 'save')]
  const isOfKey = ([member]: [string, unknown]) => member in (detail.query?.properties ?? {})
  const { input, as = owner } = await measuredOf(write.id).call(world)
  const key = Object.fromEntries(Object.entries(input as object).filter(isOfKey))
  const send = async (operation: Operation, tag?: string) => {
    const call = await measuredOf(operation.id).call(world)
    const headers = { ...call.as?.headers, ...(tag !== undefined && { 'if-match': tag }) }
    return client.call(operation, { ...(call.input as object), ...key }, { ...(call.as ?? owner), headers })
  }
  return {
    async read() {
      const answer = await client.call(detail, key, as)
      expectSuccess(answer)
      return { text: answer.text, tag: answer.headers.get('etag') ?? '' }
    },
    /** Each time to another record; the first time makes one that `save` makes. */
    change: (tag?: string) => send(update, tag),
    write: (tag: string) => send(write, tag),
  }
}

describe.each(conditional)('$id', (operation) => {
  test('goes through while the record is the one that was read, and changes nothing afterwards', async () => {
    const { read, change, write } = await recordOf(operation)
    expectSuccess(await change())
    const { tag } = await read()
    expect(tag).toMatch(/^"[\w-]{22}"$/)
    const changed = await change(tag)
    expectSuccess(changed)
    const now = await read()
    // The ETag in the response of a write is valid for the next one.
    expect(now.tag).not.toBe(tag)
    expect(changed.headers.get('etag')).toBe(now.tag)
    for (const stale of [tag, 'W/"other"', 'other', `${tag}, "other"`]) {
      const refused = await write(stale)
      expectRefusal(refused, 'preconditionFailed')
      expect(refused.data).toBeNull()
    }
    expect(await read()).toEqual(now)
    const written = await write(now.tag)
    expectSuccess(written)
    if (operation.tagged) expect(written.headers.get('etag')).toBe((await read()).tag)
  })

  test('takes lists, the weak form that a compressing proxy makes of the tag, and * for any', async () => {
    for (const form of [(tag: string) => `"other", ${tag}`, (tag: string) => `W/${tag}`, () => '*']) {
      const { read, change, write } = await recordOf(operation)
      expectSuccess(await change())
      expectSuccess(await write(form((await read()).tag)))
    }
  })
})

test('no tag fits what is not there yet, and * neither', async () => {
  const [{ appId }, deviceNo] = [await newBareApplication(), await newDevice(owner)]
  for (const tag of ['*', '"x"']) {
    const headers = { 'if-match': tag }
    const config = await client.operate('saveThirdPartyConfig', { appId, operatorName: 'x' }, { headers })
    expectRefusal(config, 'preconditionFailed')
    const place = { deviceNo, siteId: world.site, laneType: 1 }
    expectRefusal(await client.call('savePlacement', place, { ...owner, headers }), 'preconditionFailed')
  }
})

test('a record is looked for before its tag, and its tag before what the write says', async () => {
  const other = { ...owner, headers: { 'if-match': '"other"' } }
  expectRefusal(await client.call('updateSite', { id: 999_999_999_999 }, other), 'siteNotFound')
  const any = { ...owner, headers: { 'if-match': '*' } }
  expectRefusal(await client.call('deleteSite', { id: 999_999_999_999 }, any), 'siteNotFound')
  const [id, rule] = [await newSite(owner), await newRule(owner, 1)]
  expectRefusal(await client.call('updateSite', { id, fastChargeBillRuleId: 0 }, other), 'preconditionFailed')
  // The caller has not seen the rule that these changes do not fit.
  for (const wrong of [{ ruleType: 2 }, { periods: null }]) {
    expectRefusal(await client.call('updateBillingRule', { id: rule, ...wrong }, other), 'preconditionFailed')
  }
})

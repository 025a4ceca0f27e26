import { describe, expect, test } from 'bun:test'
import { operations } from '../../src/reference/operations.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { inputsOf } from '../costs/operations.ts'
import { newSerial } from '../kit/records.ts'
import type { RefusalName } from './refusals.ts'
import { client, expectFaults, expectRefusal, succeed } from './support.ts'
import { newWorld } from './world.ts'

// Whose a record is (contract §1, §5), generated from the contracts. Who may call what at all is in isolation.test.ts.

const [own, theirs] = [await newWorld(), await newWorld()]
const inputs = await inputsOf(own)
const ofApplications = operations.filter(({ callers }) => callers.includes('application'))
const membersOf = ({ body, query }: Operation) => Object.keys((body ?? query)?.properties ?? {})
const inputOf = ({ id }: Operation) => inputs[id] ?? {}
/** Where one of two members is named, and not both. */
const ofOneOfTwo = ['suggestPlacements', 'pagePlacementHistory']

/** The members that name a record of another application, and how that is refused. */
const naming: { member: string; path?: string; refusal: RefusalName; foreign: string | number }[] = [
  { member: 'deviceNo', refusal: 'deviceNotFound', foreign: theirs.device },
  { member: 'siteId', refusal: 'siteNotFound', foreign: theirs.site },
  { member: 'siteIds', refusal: 'siteNotFound', foreign: theirs.site },
  { member: 'billingRuleId', refusal: 'billingRuleNotFound', foreign: theirs.rule },
  { member: 'id', path: '/siteManageThird/', refusal: 'siteNotFound', foreign: theirs.site },
  { member: 'id', path: '/billingRule/', refusal: 'billingRuleNotFound', foreign: theirs.rule },
  { member: 'id', path: '/priceChange/', refusal: 'priceChangeNotFound', foreign: theirs.priceChange },
  { member: 'id', path: '/event/', refusal: 'eventNotFound', foreign: theirs.event },
  { member: 'id', path: '/delivery/', refusal: 'deliveryNotFound', foreign: theirs.delivery },
  { member: 'id', path: '/import/', refusal: 'importNotFound', foreign: theirs.importId },
  { member: 'id', path: '/act/', refusal: 'importNotFound', foreign: theirs.actId },
]
const nowhere = (foreign: string | number) => (typeof foreign === 'string' ? newSerial() : 987_654_321_987)

const cases = ofApplications.flatMap((operation) =>
  naming
    .filter(({ member, path = '', refusal }) => {
      const isNamed = membersOf(operation).includes(member) && operation.refusals.includes(refusal)
      return isNamed && operation.path.includes(path)
    })
    .map((named) => ({ id: operation.id, operation, ...named })),
)

async function readTheirs() {
  const { owner, device, site, rule, priceChange, delivery, importId, actId } = theirs
  const answers = [
    await client.call('getDevice', { deviceNo: device }, owner),
    await client.call('getPlacement', { deviceNo: device }, owner),
    await client.call('getSite', { id: site }, owner),
    await client.call('getBillingRule', { id: rule }, owner),
    await client.call('getPriceChange', { id: priceChange }, owner),
    await client.call('getImport', { id: importId }, owner),
    await client.call('getAct', { id: actId }, owner),
    await client.call('pageEvents', { pageSize: 100 }, owner),
  ]
  await succeed('getDelivery', { id: delivery }, owner)
  return answers.map(({ text }) => text)
}

describe('a record of another application', () => {
  test('is named by operations on every kind of record', () => {
    for (const { refusal, member } of naming) {
      expect(cases.filter((one) => one.refusal === refusal && one.member === member)).not.toEqual([])
    }
    expect(cases.length).toBeGreaterThanOrEqual(32)
  })

  test('is answered as one that is nowhere, also to an operator who names the wrong application, and stays', async () => {
    const before = await readTheirs()
    for (const { id, operation, member, refusal, foreign } of cases) {
      const { siteId: _, ...alone } = inputOf(operation)
      const input = { ...(ofOneOfTwo.includes(id) ? alone : inputOf(operation)), [member]: foreign }
      const refused = await client.call(operation, input, own.owner)
      expect([id, member, refused.code]).toEqual([id, member, expect.any(Number)])
      expectRefusal(refused, refusal, { status: 404 })
      expect([id, refused.data]).toEqual([id, null] as never)
      const unknown = await client.call(operation, { ...input, [member]: nowhere(foreign) }, own.owner)
      expect([id, unknown.text]).toEqual([id, refused.text])
      const operated = await client.operate(operation, input)
      expect([id, operated.text]).toEqual([id, refused.text])
    }
    expect(await readTheirs()).toEqual(before)
  })
})

/** Where an operator who names no application means all of them. */
const ofAll = new Set([
  ...['pageSites', 'pageBillingRules', 'getPriceChange', 'pagePriceChanges', 'pageDeliveries', 'pageRefusals'],
  ...['getDevice', 'pageDevices', 'getDeviceState', 'getDeviceHistory', 'createExport'],
  ...['getImport', 'pageImports', 'cancelImport', 'getImportResult', 'getAct', 'pageActs', 'cancelAct', 'getActResult'],
])

const isAbout = (operation: Operation) =>
  operation.callers.includes('application')
    ? membersOf(operation).includes('appId')
    : operation.body?.required?.includes('appId')
const withApplication = operations.filter((operation) => operation.callers.includes('operator') && isAbout(operation))

describe('an operator who names no application', () => {
  test.each(withApplication.map((operation) => ({ id: operation.id, operation })))(
    'is told so by $id, unless all can be meant; and that there is none of that name',
    async ({ id, operation }) => {
      const { appId: _, ...input } = inputOf(operation)
      for (const asked of [input, { ...input, appId: '' }]) {
        const answer = await client.operate(operation, asked)
        if (ofAll.has(id)) expect([id, answer.code]).not.toEqual([id, 10001])
        else expectFaults(answer, ['appId'])
      }
      expectRefusal(await client.operate(operation, { ...input, appId: 'no-such-application' }), 'applicationNotFound')
    },
  )
})

const reads = withApplication.filter(({ method, query }) => method === 'GET' && !query?.required?.includes('appId'))

test.each(reads.map((operation) => [operation.id, operation] as const))(
  'an application need not name itself in %s',
  async (_, operation) => {
    const { appId, ...input } = inputOf(operation)
    const codeOf = async (named: object) => (await client.call(operation, { ...input, ...named }, own.owner)).code
    const codes = await Promise.all([{}, { appId }, { appId: '' }].map(codeOf))
    expect(new Set(codes).size).toBe(1)
    expect(codes[0]).not.toBe(10001)
  },
)

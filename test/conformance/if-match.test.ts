import { describe, expect, test } from 'bun:test'
import {
  endPreviousApplicationSecret,
  getApplication,
  rotateApplicationSecret,
  updateApplication,
} from '../../src/applications/contract.ts'
import { getThirdPartyConfig, saveThirdPartyConfig } from '../../src/applications/third-party-config/contract.ts'
import { deleteBillingRule, getBillingRule, updateBillingRule } from '../../src/billing-rules/contract.ts'
import { getDevice, updateDevice } from '../../src/devices/contract.ts'
import { unbindDevice } from '../../src/devices/ownership/contract.ts'
import { getPlacement, savePlacement } from '../../src/devices/placement/contract.ts'
import { getOperator, updateOperator } from '../../src/people/operators/contract.ts'
import { operations } from '../../src/reference/operations.ts'
import { deleteSite, getSite, updateSite } from '../../src/sites/contract.ts'
import { newPerson } from '../kit/people.ts'
import { newApplication, newSerial } from '../kit/records.ts'
import { untyped } from '../kit/untyped.ts'
import { newPlaced } from './placement-support.ts'
import {
  client,
  expectRefusal,
  expectSuccess,
  newBareApplication,
  newDevice,
  newIdleApplication,
  newRule,
  newSite,
  succeed,
} from './support.ts'

// `If-Match` (contract §5): a write with the ETag of the detail goes through while the record is the one that was read.

const owner = await newApplication(client)
const site = await newSite(owner)

type Named = { id: string }

interface Conditional {
  write: Named
  /** The detail of the record. */
  read: Named
  /** Creates a record; returns the members that name it. */
  make(): Promise<object>
  /** Changes the record: each number to another one. */
  change(nth: number): object
  /** The write that `change` is for, where `write` ends what was read. */
  meanwhile?: Named
}

const deviceName = (nth: number) => ({ deviceName: `Gate ${nth}` })
const newDeviceNo = async () => ({ deviceNo: await newDevice(owner) })
const siteName = (nth: number) => ({ siteName: `Site ${nth}` })
const newSiteId = async () => ({ id: await newSite(owner) })
const ruleName = (nth: number) => ({ ruleName: `Rule ${nth}` })
const newRuleId = async () => ({ id: await newRule(owner, 1) })
const overlap = (nth: number) => ({ overlapSeconds: 600 + nth })

const conditional: Conditional[] = [
  { write: updateSite, read: getSite, make: newSiteId, change: siteName },
  { write: deleteSite, read: getSite, make: newSiteId, change: siteName, meanwhile: updateSite },
  { write: updateBillingRule, read: getBillingRule, make: newRuleId, change: ruleName },
  { write: deleteBillingRule, read: getBillingRule, make: newRuleId, change: ruleName, meanwhile: updateBillingRule },
  { write: updateDevice, read: getDevice, make: newDeviceNo, change: deviceName },
  { write: unbindDevice, read: getDevice, make: newDeviceNo, change: deviceName, meanwhile: updateDevice },
  {
    write: savePlacement,
    read: getPlacement,
    make: async () => ({ deviceNo: await newPlaced(owner, site) }),
    change: (nth) => ({ siteId: site, laneType: 2 + nth }),
  },
  {
    write: saveThirdPartyConfig,
    read: getThirdPartyConfig,
    make: async () => ({ appId: (await newApplication(client)).appId }),
    change: (nth) => ({ operatorName: `Operator ${nth}` }),
  },
  {
    write: updateApplication,
    read: getApplication,
    make: async () => ({ appId: (await newIdleApplication()).appId }),
    change: (nth) => ({ appName: `Application ${nth}` }),
  },
  {
    write: endPreviousApplicationSecret,
    read: getApplication,
    async make() {
      const { appId } = await newIdleApplication()
      await succeed('rotateApplicationSecret', { appId, ...overlap(0) })
      return { appId }
    },
    change: overlap,
    meanwhile: rotateApplicationSecret,
  },
  {
    write: updateOperator,
    read: getOperator,
    make: async () => ({ id: (await newPerson(client, 'viewer')).id }),
    change: (nth) => ({ name: newSerial(`person-${nth}`) }),
  },
]

const ofAccounts = (path: string) => path.startsWith('/api/platform/')

/** As an operator for operators' operations, as the application for its own. */
function call(named: Named, input: object, ifMatch?: string) {
  const operation = untyped(named)
  const headers: Record<string, string> = ifMatch === undefined ? {} : { 'if-match': ifMatch }
  const isOther = 'appId' in input
  const token = ofAccounts(operation.path) || isOther ? client.operatorKey : owner.token
  return client.call(operation, input, { token, headers })
}

test('every operation that takes If-Match is looked at here', () => {
  const declared = operations.filter((operation) => operation.conditional).map(({ id }) => id)
  expect(conditional.map(({ write }) => write.id).sort()).toEqual(declared.sort())
})

describe.each(conditional.map((each) => ({ id: each.write.id, ...each })))(
  '$id',
  ({ write, read, make, change, meanwhile }) => {
    const reading = async (key: object) => {
      const answer = await call(read, key)
      expectSuccess(answer)
      return { text: answer.text, tag: answer.headers.get('etag') ?? '' }
    }
    const writeIf = (tag: string, key: object, nth: number) =>
      call(write, { ...key, ...(meanwhile === undefined && change(nth)) }, tag)

    test('goes through while the record is the one that was read, and changes nothing afterwards', async () => {
      const key = await make()
      const { tag } = await reading(key)
      expect(tag).toMatch(/^"[\w-]{22}"$/)
      const first =
        meanwhile === undefined ? await writeIf(tag, key, 1) : await call(meanwhile, { ...key, ...change(1) })
      expectSuccess(first)
      const now = await reading(key)
      // The ETag in the response of a write is valid for the next one.
      expect(now.tag).not.toBe(tag)
      if (meanwhile?.id !== 'rotateApplicationSecret') expect(first.headers.get('etag')).toBe(now.tag)
      for (const stale of [tag, 'W/"other"', 'other', `${tag}, "other"`]) {
        const refused = await writeIf(stale, key, 2)
        expectRefusal(refused, 'preconditionFailed')
        expect(refused.data).toBeNull()
      }
      expect(await reading(key)).toEqual(now)
      expectSuccess(await writeIf(now.tag, key, 2))
    })

    test('takes lists, the weak form that a compressing proxy makes of the tag, and * for any', async () => {
      for (const form of [(tag: string) => `"other", ${tag}`, (tag: string) => `W/${tag}`, () => '*']) {
        const key = await make()
        expectSuccess(await writeIf(form((await reading(key)).tag), key, 1))
      }
    })
  },
)

test('no tag fits what is not there yet, and * neither', async () => {
  const [{ appId }, deviceNo] = [await newBareApplication(), await newDevice(owner)]
  for (const tag of ['*', '"x"']) {
    expectRefusal(await call(saveThirdPartyConfig, { appId, operatorName: 'x' }, tag), 'preconditionFailed')
    expectRefusal(await call(savePlacement, { deviceNo, siteId: site, laneType: 1 }, tag), 'preconditionFailed')
  }
})

test('a record is looked for before its tag, and its tag before what the write says', async () => {
  expectRefusal(await call(updateSite, { id: 999_999_999_999 }, '"other"'), 'siteNotFound')
  expectRefusal(await call(deleteSite, { id: 999_999_999_999 }, '*'), 'siteNotFound')
  const [id, rule] = [await newSite(owner), await newRule(owner, 1)]
  expectRefusal(await call(updateSite, { id, fastChargeBillRuleId: 0 }, '"other"'), 'preconditionFailed')
  // The caller has not seen the rule that these changes do not fit.
  for (const wrong of [{ ruleType: 2 }, { periods: null }]) {
    expectRefusal(await call(updateBillingRule, { id: rule, ...wrong }, '"other"'), 'preconditionFailed')
  }
})

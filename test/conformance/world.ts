import { newAct, newDevice, newImport, newPriceChange, newRule, newSite, type World } from '../costs/world.ts'
import { newApplication } from '../kit/records.ts'
import { client, succeed } from './support.ts'

/** An https address where nobody receives. */
export const callbackUrl = 'https://nowhere.example.com/callback'
const thirdPartyConfig = { operatorName: 'Test operator', callbackUrl }

/** What the calls in test/costs/operations.ts are about, at any deployment: its database is out of reach. */
export async function newWorld(): Promise<World> {
  const owner = await newApplication(client, { thirdPartyConfig })
  const makers = { client, owner }
  const rule = await newRule(makers)
  const { list } = await succeed('pageEvents', {}, owner)
  return {
    client,
    owner,
    stranger: await newApplication(client),
    spare: await newApplication(client, { thirdPartyConfig }),
    device: await newDevice(makers),
    site: await newSite(makers),
    rule,
    priceChange: await newPriceChange(makers, rule),
    event: list[0]?.id ?? 0,
    delivery: (await succeed('testDelivery', {}, owner)).id,
    // An application has one import or act under way at a time.
    importId: await newImport(makers),
    actId: await newAct(makers),
    callbackUrl,
  }
}

import type { EventRecord } from '../../src/events/contract.ts'
import type { PriceChangeRecord } from '../../src/sites/price-changes/contract.ts'
import type { TestApplication } from '../kit/records.ts'
import { becomesTrue } from '../kit/waits.ts'
import { client, expectSuccess, feedOf, succeed } from './support.ts'

/** The first whole second at least this many milliseconds ahead, RFC 3339. */
export function ahead(milliseconds: number): string {
  return new Date(Math.ceil((Date.now() + milliseconds) / 1000) * 1000).toISOString().replace('.000', '')
}

/** Waits until a moment is over, by this machine's clock, which is the database's. */
export async function untilAfter(moment: string): Promise<void> {
  await Bun.sleep(Math.max(0, new Date(moment).getTime() - Date.now() + 1))
}

export const day = 86_400_000

/** One period of a whole day. */
export const at = (electricityPrice: string) => [{ startTime: '00:00:00', electricityPrice, servicePrice: '0.8' }]

export const schedule = ({ token }: TestApplication, members: Record<string, unknown>) =>
  client.call('schedulePriceChange', members, { token })

/** Schedules a price change and expects that it is accepted. Returns its id, which a dry run does not have. */
export async function scheduled(application: TestApplication, members: Record<string, unknown>) {
  return expectSuccess(await schedule(application, members)) as PriceChangeRecord
}

/** Schedules a price change for a moment as near as this machine's speed allows. */
export async function scheduledSoon(application: TestApplication, members: Record<string, unknown>) {
  for (let leadMs = 700; ; leadMs *= 2) {
    const effectiveTime = ahead(leadMs)
    const answer = await schedule(application, { effectiveTime, ...members })
    if (answer.code === 10001 && leadMs < 30_000) continue
    return { ...(expectSuccess(answer) as PriceChangeRecord), effectiveTime }
  }
}

export const changeOf = async ({ token }: TestApplication, id: number) =>
  await succeed('getPriceChange', { id }, { token })
export const ruleOf = async ({ token }: TestApplication, id: number) =>
  await succeed('getBillingRule', { id }, { token })
export const siteOf = async ({ token }: TestApplication, id: number) => await succeed('getSite', { id }, { token })

/** The prices of a site at a moment, RFC 3339; by default now. */
export const askPrices = ({ token }: TestApplication, id: number, time = '') =>
  client.call('getSitePrices', { id, time }, { token })

export const pricesOf = async (application: TestApplication, id: number, time?: string) =>
  expectSuccess(await askPrices(application, id, time))

/** Waits until the rows and events of a price change are written. */
export async function untilApplied(application: TestApplication, id: number): Promise<void> {
  const isApplied = async () => (await changeOf(application, id)).appliedTime !== null
  if (!(await becomesTrue(isApplied, 10_000))) throw new Error(`price change ${id} is not written down`)
}

/** Waits for a price change near at hand, and until it is written down. */
export async function applied(application: TestApplication, members: Record<string, unknown>) {
  const change = await scheduledSoon(application, members)
  await untilApplied(application, change.id)
  return change
}

/** The application's events of these types, oldest first. */
export const eventsOf = (application: TestApplication, type: string): Promise<EventRecord[]> =>
  feedOf(application, { type })

import { limits } from '../../src/vocabulary/limits.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import type { Client } from '../kit/client.ts'
import { newPerson, type Person, signIn } from '../kit/people.ts'
import type { World } from './world.ts'

/** One call of an operation: its input, and the caller where that is not the owner. */
export interface Call {
  input: unknown
  as?: { token?: string; headers?: Record<string, string> }
}

/** The reason why an operation may read more when tables have more rows, and the limit. */
interface Allowance {
  blocks: number
  because: string
}

export interface Measured {
  /** Creates the rows that one call needs; these statements are not measured. */
  call: (world: World) => Call | Promise<Call>
  allowed?: Allowance
  /**
   * Why the cost grows although it should not. The test fails once it no longer grows, so that this mark is removed.
   */
  isOpen?: string
}

export const own = (members: (world: World) => object | Promise<object>): Measured => ({
  call: async (world) => ({ input: { appId: world.owner.appId, ...(await members(world)) } }),
})
export const asOperator = (input: (world: World) => object | Promise<object>): Measured => ({
  call: async (world) => ({ input: await input(world), as: { token: world.client.operatorKey } }),
})
export const none = () => ({})
/** Each call as a new person, in a new session. */
export const asPerson = (
  input: (person: Person, client: Client, headers: { cookie: string }) => object | Promise<object>,
): Measured => ({
  call: async ({ client }) => {
    const person = await newPerson(client, 'viewer')
    const headers = await signIn(client, person)
    return { input: await input(person, client, headers), as: { headers } }
  },
})
const colleagues = new WeakMap<Client, Promise<{ person: Person; headers: { cookie: string } }>>()

async function newColleague(client: Client) {
  const person = await newPerson(client, 'viewer')
  return { person, headers: await signIn(client, person) }
}

/** As one person in one session for all calls, which leave the account and the session as they were. */
export const asColleague = (input: (person: Person) => object): Measured => ({
  call: async ({ client }) => {
    const known = colleagues.get(client) ?? newColleague(client)
    colleagues.set(client, known)
    const { person, headers } = await known
    return { input: input(person), as: { headers } }
  },
})
/** By an application with few rows, whose number stays the same while the others' grow. */
export const ofFew = (input: object): Measured => asOperator(({ stranger }) => ({ appId: stranger.appId, ...input }))

/** A page with a total counts up to 10,000 rows, and so reads as many. */
export const counting = (of: Measured, blocks = 2_500): Measured => ({
  ...of,
  allowed: { blocks, because: 'Its total counts up to 10,000 rows.' },
})
export const searching = (of: Measured): Measured => ({
  ...of,
  allowed: { blocks: 5_000, because: 'It searches the devices of the application for a part of the serial number.' },
})
/** A filter that looks into another table finds more rows than a total counts. */
export const joining = (of: Measured): Measured => ({
  ...of,
  allowed: { blocks: 6_000, because: `It finds up to ${limits.joinedDevicesFound} devices whose reports fit.` },
})
export const sorting = (of: Measured, blocks = 6_000): Measured => ({
  ...of,
  allowed: { blocks, because: 'It reads all rows that it sorts, of one index or of the table.' },
})
export const acrossAll = (of: Measured): Measured => ({
  ...of,
  allowed: { blocks: 5_000, because: 'It sorts the rows in the first application that it shows.' },
})
export const ofEachApplication = (of: Measured): Measured => ({
  ...of,
  allowed: { blocks: 3_000, because: 'It, or the import’s worker, reads the newest event id of each application.' },
})
export const walking = (of: Measured): Measured => ({
  ...of,
  allowed: { blocks: 5_000, because: `It looks at ${limits.searchRowsWalked} rows in each kind at most.` },
})

/** Codes of requests that are refused on purpose: the cost of finding the reason is measured. */
const refusedOnPurpose = [20_017, 10_060]

/** Sends one call and throws if it fails, except with a code that is expected. */
export async function send(world: World, operation: Operation, { input, as = world.owner }: Call): Promise<void> {
  const { status, code, text } = await world.client.call(operation, input, as)
  if (status >= 400 && !refusedOnPurpose.includes(code)) throw new Error(`${operation.id}: ${text}`)
}

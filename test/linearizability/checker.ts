import { type Answer, isSameAnswer, type Request, respond, type Serial, untouched } from './model.ts'

/** One request as its client saw it. `calledAt` and `answeredAt` come from one counter that all clients share. */
export interface Exchange {
  client: number
  request: Request
  calledAt: number
  /** Undefined without a response: the request may have taken effect at any time after its call, or not at all. */
  answer: Answer | undefined
  /** Infinity without a response. */
  answeredAt: number
}

export type Verdict = 'has an order' | 'has no order' | 'undecided'

/** A search that has tried this many states is abandoned. */
const defaultBudget = 500_000

/**
 * Whether the exchanges of one serial number could have happened one after the other. Exchanges that did not overlap
 * must keep their order, and a service that handles one request at a time must give the same responses. This is Herlihy
 * and Wing's linearizability; the search is Wing and Gong's, with Lowe's table of the states that were tried.
 */
export function judge(history: readonly Exchange[], budget = defaultBudget): Verdict {
  const known = history.filter(({ answer }) => answer !== undefined).toSorted((a, b) => a.calledAt - b.calledAt)
  return new Search(known, alike(history, known), budget).run()
}

/** Requests without a response that are interchangeable, with the times of their calls, the earliest first. */
interface Alike {
  request: Request
  calls: number[]
}

/**
 * Groups the requests without a response. Of several attempts with one key at most one takes effect, so they count as
 * one that began with the first. Tags and keys that occur in no response are treated as equal.
 */
function alike(history: readonly Exchange[], known: Exchange[]): Alike[] {
  const seenTags = new Set(known.map(({ answer }) => answer?.tag))
  const seenKeys = new Set(known.map(({ request }) => request.key))
  const collapsed = new Set<string>()
  const classes = new Map<string, Alike>()
  for (const { request, answer, calledAt } of history.toSorted((a, b) => a.calledAt - b.calledAt)) {
    const { action, app, tag, key } = request
    if (answer !== undefined || action === 'detail') continue
    if (key !== undefined && collapsed.has(key)) continue
    if (key !== undefined) collapsed.add(key)
    const plain: Request = {
      action,
      app,
      ...(tag !== undefined && { tag: seenTags.has(tag) ? tag : 'seen by nobody' }),
      ...(key !== undefined && seenKeys.has(key) && { key }),
    }
    const name = JSON.stringify(plain)
    const one = classes.get(name) ?? { request: plain, calls: [] }
    one.calls.push(calledAt)
    classes.set(name, one)
  }
  return [...classes.values()]
}

class Search {
  private readonly known: Exchange[]
  private readonly unknown: Alike[]
  /**
   * States from which the search has failed. The key describes the placed exchanges and the serial's state; each value
   * says how many requests of each group were assumed to have taken effect.
   */
  private readonly tried = new Map<string, number[][]>()
  private readonly placed: boolean[]
  private readonly supposed: number[]
  private budget: number

  constructor(known: Exchange[], unknown: Alike[], budget: number) {
    this.known = known
    this.unknown = unknown
    this.placed = known.map(() => false)
    this.supposed = unknown.map(() => 0)
    this.budget = budget
  }

  run(): Verdict {
    if (this.canGoOn(0, untouched)) return 'has an order'
    return this.budget > 0 ? 'has no order' : 'undecided'
  }

  /** Whether the exchanges that are not placed yet can follow this state. All exchanges before `start` are placed. */
  private canGoOn(start: number, state: Serial): boolean {
    const own: number[] = []
    const isDone = this.settle(start, state, own) || this.tryEach(start, state)
    if (!isDone) for (const index of own) this.placed[index] = false
    return isDone
  }

  /**
   * Places every exchange that is possible now and changes nothing: placing it later could not be better. Returns
   * whether all exchanges are then placed.
   */
  private settle(start: number, state: Serial, own: number[]): boolean {
    for (let before = -1; before !== own.length; ) {
      before = own.length
      for (const index of this.candidates(start)) {
        if (this.after(index, state) !== state) continue
        this.placed[index] = true
        own.push(index)
      }
    }
    return this.placed.indexOf(false, start) === -1
  }

  private tryEach(from: number, state: Serial): boolean {
    const start = this.placed.indexOf(false, from)
    if (this.budget <= 0 || !this.isNew(start, state)) return false
    this.budget--
    for (const index of this.candidates(start)) {
      const next = this.after(index, state)
      if (next === undefined) continue
      this.placed[index] = true
      if (this.canGoOn(start, next)) return true
      this.placed[index] = false
    }
    return this.suppose(start, state)
  }

  /** Assumes that a request without a response took effect, and continues. */
  private suppose(start: number, state: Serial): boolean {
    const limit = this.earliestEnd(start)
    for (const [index, { request, calls }] of this.unknown.entries()) {
      const count = this.supposed[index] as number
      if (!((calls[count] as number) < limit)) continue
      const [, next] = respond(state, request)
      if (next === state) continue
      this.supposed[index] = count + 1
      if (this.canGoOn(start, next)) return true
      this.supposed[index] = count
    }
    return false
  }

  /** The state after an exchange; undefined if a correct service would have given another response. */
  private after(index: number, state: Serial): Serial | undefined {
    const { request, answer } = this.known[index] as Exchange
    const [expected, next] = respond(state, request)
    return answer !== undefined && isSameAnswer(expected, answer) ? next : undefined
  }

  /**
   * The exchanges that may come next: those called before the earliest response of an exchange that is not placed. The
   * earliest response comes first.
   */
  private candidates(start: number): number[] {
    const limit = this.earliestEnd(start)
    const found: number[] = []
    for (let index = start; index < this.known.length; index++) {
      if ((this.known[index] as Exchange).calledAt > limit) break
      if (!this.placed[index]) found.push(index)
    }
    return found.sort((a, b) => (this.known[a] as Exchange).answeredAt - (this.known[b] as Exchange).answeredAt)
  }

  private earliestEnd(start: number): number {
    let limit = Number.POSITIVE_INFINITY
    for (let index = start; index < this.known.length; index++) {
      const { calledAt, answeredAt } = this.known[index] as Exchange
      if (calledAt > limit) break
      if (!this.placed[index]) limit = Math.min(limit, answeredAt)
    }
    return limit
  }

  /**
   * Whether this state is new. It is not if the same state was tried with no more requests assumed to have taken
   * effect.
   */
  private isNew(start: number, { held, kept }: Serial): boolean {
    const ahead = this.placed.flatMap((isPlaced, index) => (isPlaced && index > start ? [index] : []))
    const keys = [...kept].map(([key, answer]) => `${key}=${answer.app}/${answer.tag}`).sort()
    const text = [start, ahead, held?.app, held?.tag, keys].join(' ')
    const before = this.tried.get(text) ?? []
    if (before.some((counts) => counts.every((count, index) => count <= (this.supposed[index] as number)))) return false
    this.tried.set(text, [...before, [...this.supposed]])
    return true
  }
}

/**
 * A smallest set of responses that contradict each other, independently of the others. A response is left out by
 * treating it as unknown, as if the request might have taken effect or not.
 */
export function contradiction(history: readonly Exchange[], budget = 20_000): Exchange[] {
  const has = (exchanges: Exchange[]) => judge(exchanges, budget) === 'has no order'
  let kept = upToTheFirstFault(history, has)
  // Reads are removed first, then the latest exchanges: the beginning explains the fault.
  const order = kept.toSorted((a, b) => Number(b.request.action === 'detail') - Number(a.request.action === 'detail'))
  for (const one of order) {
    if (one.answer === undefined) continue
    const without = kept.map((other) => (other === one ? forgotten(other) : other))
    if (has(without)) kept = without
  }
  return kept.filter(({ answer }) => answer !== undefined)
}

function forgotten(exchange: Exchange): Exchange {
  return { ...exchange, answer: undefined, answeredAt: Number.POSITIVE_INFINITY }
}

/** The history up to the first response after which no order is possible. */
function upToTheFirstFault(history: readonly Exchange[], has: (exchanges: Exchange[]) => boolean): Exchange[] {
  const ends = history
    .flatMap(({ answer, answeredAt }) => (answer === undefined ? [] : [answeredAt]))
    .sort((a, b) => a - b)
  const until = (end: number) =>
    history.filter(({ calledAt }) => calledAt < end).map((one) => (one.answeredAt > end ? forgotten(one) : one))
  // A history without an order stays without one when exchanges are added, so a binary search finds the first such
  // response.
  let [low, high] = [0, ends.length - 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (has(until(ends[middle] as number))) high = middle
    else low = middle + 1
  }
  const cut = until(ends[low] as number)
  return has(cut) ? cut : [...history]
}

/** Exchanges as text, in the order of their calls. */
export function describeExchanges(exchanges: readonly Exchange[]): string {
  return exchanges
    .toSorted((a, b) => a.calledAt - b.calledAt)
    .map(({ client, request, calledAt, answer, answeredAt }) => {
      const { action, app, tag, key } = request
      const asked = [action, app ?? 'any', tag, key && `key ${key}`].filter((word) => word !== undefined).join(' ')
      const { code, isReplayed } = answer ?? {}
      const shown = [code, answer?.app, answer?.tag, isReplayed ? 'replayed' : undefined]
      const told = answer === undefined ? 'no answer' : shown.filter((word) => word !== undefined).join(' ')
      return `${calledAt}–${answeredAt} client ${client}: ${asked} → ${told}`
    })
    .join('\n')
}

import { isDeepStrictEqual } from 'node:util'

/** One request about an object. */
export interface Asked {
  action: string
  /** A text that only this request sends, by which its effect is recognised. */
  tag?: string
  /** The request's idempotency key. */
  key?: string
}

/** A response: its code, and what a success shows. */
export interface Told {
  code: number
  tag?: string | undefined
  isReplayed?: boolean
}

/**
 * The responses of a correct service about one object, if requests came one after the other. A model is written from the
 * contract alone and shares no code with the service. States are never changed in place.
 */
export interface Model<State, Request extends Asked = Asked, Answer extends Told = Told> {
  untouched: State
  /** The response, and the state after it: the same object if nothing has changed. */
  respond(state: State, request: Request): [Answer, State]
  /** The actions that change nothing. */
  reads: readonly Request['action'][]
  /** The actions whose tag means nothing as long as no response shows it. */
  tagged: readonly Request['action'][]
  /**
   * What requests that are still to come can tell of a state, by the tags that they name with an action; all by default.
   * States that look alike are searched once.
   */
  visible?(state: State, isNamed: IsNamed<Request>): unknown
  /** Whether the request changes nothing that those to come can tell. */
  isIdle?(state: State, request: Request, isNamed: IsNamed<Request>): boolean
}

/** Whether a request that is still to come names this tag, with one of these actions. */
export type IsNamed<Request extends Asked> = (tag: string, ...actions: Request['action'][]) => boolean

/** One request as its client saw it. `calledAt` and `answeredAt` come from one clock that all clients share. */
export interface Exchange<Request extends Asked = Asked, Answer extends Told = Told> {
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
 * Whether the exchanges about one object could have happened one after the other. Exchanges that did not overlap must
 * keep their order, and a service that handles one request at a time must give the same responses. This is Herlihy and
 * Wing's linearizability; the search is Wing and Gong's, with Lowe's table of the states that were tried.
 */
export function judge<State, Request extends Asked, Answer extends Told>(
  model: Model<State, Request, Answer>,
  history: readonly Exchange<Request, Answer>[],
  budget = defaultBudget,
): Verdict {
  const known = history.filter(({ answer }) => answer !== undefined).toSorted((a, b) => a.calledAt - b.calledAt)
  return new Search(model, known, alike(model, history, known), budget).run()
}

/** Requests without a response that are interchangeable, with the times of their calls, the earliest first. */
interface Alike<Request> {
  request: Request
  calls: number[]
}

/**
 * Groups the requests without a response. Of several attempts with one key at most one takes effect, so they count as
 * one that began with the first. Tags and keys that occur in no response are treated as equal.
 */
function alike<State, Request extends Asked, Answer extends Told>(
  { reads, tagged }: Model<State, Request, Answer>,
  history: readonly Exchange<Request, Answer>[],
  known: Exchange<Request, Answer>[],
): Alike<Request>[] {
  const seenTags = new Set(known.map(({ answer }) => answer?.tag))
  const seenKeys = new Set(known.map(({ request }) => request.key))
  const collapsed = new Set<string>()
  const classes = new Map<string, Alike<Request>>()
  for (const { request, answer, calledAt } of history.toSorted((a, b) => a.calledAt - b.calledAt)) {
    const { key, tag, ...rest } = request
    if (answer !== undefined || reads.includes(request.action)) continue
    if (key !== undefined && collapsed.has(key)) continue
    if (key !== undefined) collapsed.add(key)
    const isForgotten = tag !== undefined && tagged.includes(request.action) && !seenTags.has(tag)
    const plain = {
      ...rest,
      ...(tag !== undefined && { tag: isForgotten ? 'seen by nobody' : tag }),
      ...(key !== undefined && seenKeys.has(key) && { key }),
    } as Request
    const name = JSON.stringify(plain)
    const one = classes.get(name) ?? { request: plain, calls: [] }
    one.calls.push(calledAt)
    classes.set(name, one)
  }
  return [...classes.values()]
}

/** An object's state with the first responses by key, of which only successes are kept. */
interface Kept<State, Answer> {
  state: State
  byKey: Readonly<Record<string, Answer>>
}

class Search<State, Request extends Asked, Answer extends Told> {
  private readonly model: Model<State, Request, Answer>
  private readonly known: Exchange<Request, Answer>[]
  private readonly unknown: Alike<Request>[]
  /**
   * States from which the search has failed. The key is a hash of the placed exchanges and of what can be seen of the
   * object's state; each value says how many requests of each group were assumed to have taken effect.
   */
  private readonly tried = new Map<bigint | number, number[][]>()
  /** Keys that more than one request has. */
  private readonly repeated = new Set<string>()
  /** By tag and action: the last exchange that names it. */
  private readonly lastNamed = new Map<string, number>()
  private readonly placed: boolean[]
  private readonly supposed: number[]
  private budget: number

  constructor(
    model: Model<State, Request, Answer>,
    known: Exchange<Request, Answer>[],
    unknown: Alike<Request>[],
    budget: number,
  ) {
    this.model = model
    this.known = known
    this.unknown = unknown
    this.placed = known.map(() => false)
    this.supposed = unknown.map(() => 0)
    this.budget = budget
    const keys = new Set<string>()
    const note = ({ action, tag, key }: Request, index: number) => {
      if (tag !== undefined) this.lastNamed.set(`${action} ${tag}`, index)
      if (key === undefined) return
      if (keys.has(key)) this.repeated.add(key)
      keys.add(key)
    }
    for (const [index, { request }] of known.entries()) note(request, index)
    for (const { request } of unknown) note(request, Number.POSITIVE_INFINITY)
  }

  run(): Verdict {
    if (this.canGoOn(0, { state: this.model.untouched, byKey: {} })) return 'has an order'
    return this.budget > 0 ? 'has no order' : 'undecided'
  }

  /** Whether the exchanges that are not placed yet can follow this state. All exchanges before `start` are placed. */
  private canGoOn(start: number, state: Kept<State, Answer>): boolean {
    const own: number[] = []
    const isDone = this.settle(start, state, own) || this.tryEach(start, state)
    if (!isDone) for (const index of own) this.placed[index] = false
    return isDone
  }

  /**
   * Places every exchange that is possible now and could change nothing later either: placing it later could not be
   * better. A write that gives a record what it has already could. Returns whether all exchanges are then placed.
   */
  private settle(start: number, state: Kept<State, Answer>, own: number[]): boolean {
    const isNamed = this.isNamedSince(start)
    for (let before = -1; before !== own.length; ) {
      before = own.length
      for (const index of this.candidates(start)) {
        const { request } = this.known[index] as Exchange<Request, Answer>
        const isIdle = this.model.isIdle?.(state.state, request, isNamed) === true
        if (!isIdle && (this.mayChange(index) || this.after(index, state) !== state)) continue
        this.placed[index] = true
        own.push(index)
      }
    }
    return this.placed.indexOf(false, start) === -1
  }

  private mayChange(index: number): boolean {
    const { request, answer } = this.known[index] as Exchange<Request, Answer>
    return answer?.code === 0 && answer.isReplayed !== true && !this.model.reads.includes(request.action)
  }

  private tryEach(from: number, state: Kept<State, Answer>): boolean {
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
  private suppose(start: number, state: Kept<State, Answer>): boolean {
    const limit = this.earliestEnd(start)
    for (const [index, { request, calls }] of this.unknown.entries()) {
      const count = this.supposed[index] as number
      if (!((calls[count] as number) < limit)) continue
      const [, next] = this.respond(state, request)
      if (next === state) continue
      this.supposed[index] = count + 1
      if (this.canGoOn(start, next)) return true
      this.supposed[index] = count
    }
    return false
  }

  private respond(kept: Kept<State, Answer>, request: Request): [Answer, Kept<State, Answer>] {
    const { key } = request
    const first = key === undefined ? undefined : kept.byKey[key]
    if (first !== undefined) return [{ ...first, isReplayed: true }, kept]
    const [answer, state] = this.model.respond(kept.state, request)
    // Each success that a key stands for changes the state; so a response that leaves it as it was stores nothing.
    if (state === kept.state) return [answer, kept]
    const isAsked = key !== undefined && this.repeated.has(key)
    return [answer, { state, byKey: isAsked ? { ...kept.byKey, [key]: answer } : kept.byKey }]
  }

  /** The state after an exchange; undefined if a correct service would have given another response. */
  private after(index: number, state: Kept<State, Answer>): Kept<State, Answer> | undefined {
    const { request, answer } = this.known[index] as Exchange<Request, Answer>
    const [expected, next] = this.respond(state, request)
    return isSameAnswer(expected, answer) ? next : undefined
  }

  /**
   * The exchanges that may come next: those called before the earliest response of an exchange that is not placed. The
   * earliest response comes first.
   */
  private candidates(start: number): number[] {
    const limit = this.earliestEnd(start)
    const found: number[] = []
    for (let index = start; index < this.known.length; index++) {
      if ((this.known[index] as Exchange<Request, Answer>).calledAt > limit) break
      if (!this.placed[index]) found.push(index)
    }
    return found.sort(
      (a, b) =>
        (this.known[a] as Exchange<Request, Answer>).answeredAt -
        (this.known[b] as Exchange<Request, Answer>).answeredAt,
    )
  }

  private earliestEnd(start: number): number {
    let limit = Number.POSITIVE_INFINITY
    for (let index = start; index < this.known.length; index++) {
      const { calledAt, answeredAt } = this.known[index] as Exchange<Request, Answer>
      if (calledAt > limit) break
      if (!this.placed[index]) limit = Math.min(limit, answeredAt)
    }
    return limit
  }

  private isNamedSince(start: number): IsNamed<Request> {
    return (tag, ...actions) => actions.some((action) => (this.lastNamed.get(`${action} ${tag}`) ?? -1) >= start)
  }

  /**
   * Whether this state is new. It is not if the same state was tried with no more requests assumed to have taken
   * effect.
   */
  private isNew(start: number, { state, byKey }: Kept<State, Answer>): boolean {
    const ahead = this.placed.flatMap((isPlaced, index) => (isPlaced && index > start ? [index] : []))
    const seen = this.model.visible?.(state, this.isNamedSince(start)) ?? state
    const name = Bun.hash(JSON.stringify([start, ahead, seen, Object.entries(byKey).sort()]))
    const before = this.tried.get(name) ?? []
    if (before.some((counts) => counts.every((count, index) => count <= (this.supposed[index] as number)))) return false
    this.tried.set(name, [...before, [...this.supposed]])
    return true
  }
}

function isSameAnswer(expected: Told, given: Told | undefined): boolean {
  const isTold = ([, value]: [string, unknown]) => value !== undefined && value !== false
  const whole = (answer: Told) => Object.fromEntries(Object.entries(answer).filter(isTold))
  return given !== undefined && isDeepStrictEqual(whole(expected), whole(given))
}

/**
 * A small set of responses that contradict each other, independently of the others. A response is left out by
 * treating it as unknown, as if the request might have taken effect or not.
 */
export function contradiction<State, Request extends Asked, Answer extends Told>(
  model: Model<State, Request, Answer>,
  history: readonly Exchange<Request, Answer>[],
  budget = 20_000,
): Exchange<Request, Answer>[] {
  const has = (exchanges: Exchange<Request, Answer>[]) => judge(model, exchanges, budget) === 'has no order'
  let kept = upToTheFirstFault(history, has)
  // Reads are removed first, then the latest exchanges: the beginning explains the fault.
  const isRead = ({ request }: Exchange<Request, Answer>) => Number(model.reads.includes(request.action))
  // In time for the test to tell what it has found.
  const end = performance.now() + 15_000
  for (const one of kept.toSorted((a, b) => isRead(b) - isRead(a))) {
    if (one.answer === undefined || performance.now() > end) continue
    const without = kept.map((other) => (other === one ? forgotten(other) : other))
    if (has(without)) kept = without
  }
  return kept.filter(({ answer }) => answer !== undefined)
}

function forgotten<One extends Exchange>(exchange: One): One {
  return { ...exchange, answer: undefined, answeredAt: Number.POSITIVE_INFINITY }
}

/** The history up to the first response after which no order is possible. */
function upToTheFirstFault<One extends Exchange>(history: readonly One[], has: (exchanges: One[]) => boolean): One[] {
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
  const words = (values: object) =>
    Object.entries(values)
      .filter(([, value]) => value !== undefined && value !== false)
      .map(([name, value]) => (value === true ? name : String(value)))
      .join(' ')
  return exchanges
    .toSorted((a, b) => a.calledAt - b.calledAt)
    .map(
      ({ client, request, calledAt, answer, answeredAt }) =>
        `${calledAt}–${answeredAt} client ${client}: ${words(request)} → ${answer ? words(answer) : 'no answer'}`,
    )
    .join('\n')
}

import type { IsNamed, Model } from './checker.ts'

/** A request about a site that has one of three billing rules, 0 to 2, or a moment at which a price change is due. */
export interface PriceRequest {
  action: 'read' | 'status' | 'updateRule' | 'updateSite' | 'scheduleTerms' | 'scheduleRule' | 'cancel' | 'undo' | 'due'
  rule?: number
  /** A rule's new price, which only this request sends; or the price change that is meant. */
  tag?: string
  /** When the price change is due, or of which second the prices are read. */
  at?: number
  key?: string
}

export interface PriceAnswer {
  code: number
  /** The rule that the site has. */
  rule?: number
  /** A rule's price, or the name of a price change. */
  tag?: string | undefined
  status?: number
  isReplayed?: boolean
}

interface Change {
  /** 0: came due before it was scheduled, so that it can be scheduled no more. */
  status: 0 | 1 | 2 | 3
  rule: number
  isOfSite: boolean
  at: number
  /** What was before it took effect: a price, or the site's rule. */
  former?: string | number | undefined
}

interface Prices {
  /** The site's rule. */
  rule: number
  /** By rule. */
  prices: readonly string[]
  changes: Readonly<Record<string, Change>>
}

const wrongState = 40006

/** Whether another change of the same, for the same moment, waits. */
function doesClash({ changes }: Prices, isOfSite: boolean, rule: number, at: number): boolean {
  const waiting = Object.values(changes).filter((one) => one.status === 1 && one.at === at)
  return waiting.some((one) => one.isOfSite === isOfSite && (isOfSite || one.rule === rule))
}

function respond(state: Prices, { action, rule = 0, tag = '', at = 0 }: PriceRequest): [PriceAnswer, Prices] {
  const { prices, changes } = state
  const unchanged = (answer: PriceAnswer): [PriceAnswer, Prices] => [answer, state]
  const change = changes[tag]
  const priced = (of: number, price: string) => prices.map((had, index) => (index === of ? price : had))
  const noted = (one: Change) => ({ ...changes, [tag]: one })
  switch (action) {
    case 'read':
      return unchanged({ code: 0, rule: state.rule, tag: prices[state.rule] })
    case 'status':
      return unchanged({ code: 0, status: change?.status ?? 0 })
    case 'updateRule':
      return [
        { code: 0, tag },
        { ...state, prices: priced(rule, tag) },
      ]
    case 'updateSite':
      return rule === state.rule
        ? unchanged({ code: 0, rule })
        : [
            { code: 0, rule },
            { ...state, rule },
          ]
    case 'scheduleTerms':
    case 'scheduleRule':
      if (change !== undefined) return unchanged({ code: 10001 })
      if (doesClash(state, action === 'scheduleRule', rule, at)) return unchanged({ code: 40007 })
      return [
        { code: 0, tag },
        { ...state, changes: noted({ status: 1, rule, isOfSite: action === 'scheduleRule', at }) },
      ]
    case 'cancel':
      if (change?.status !== 1) return unchanged({ code: wrongState })
      return [
        { code: 0, tag },
        { ...state, changes: noted({ ...change, status: 3 }) },
      ]
    case 'undo': {
      if (change?.status !== 2 || change.former === undefined) return unchanged({ code: wrongState })
      const { former, isOfSite, rule: of } = change
      if (!isOfSite && prices[of] === tag) return [{ code: 0 }, { ...state, prices: priced(of, former as string) }]
      const isBack = isOfSite && state.rule === of && former !== of
      return isBack ? [{ code: 0 }, { ...state, rule: former as number }] : unchanged({ code: wrongState })
    }
    case 'due': {
      if (change === undefined)
        return [{ code: 0 }, { ...state, changes: noted({ status: 0, rule, isOfSite: false, at }) }]
      if (change.status !== 1) return unchanged({ code: 0 })
      const { isOfSite, rule: to } = change
      const former = isOfSite ? state.rule : prices[to]
      const after = isOfSite ? { ...state, rule: to } : { ...state, prices: priced(to, tag) }
      return [{ code: 0 }, { ...after, changes: noted({ ...change, status: 2, former }) }]
    }
  }
}

const isScheduled = (tag: string, isNamed: IsNamed<PriceRequest>) => isNamed(tag, 'scheduleTerms', 'scheduleRule')

/** A site whose rules have the prices `0`, `1` and `2` at first. Which prices are in force is a matter of the time alone. */
export const prices: Model<Prices, PriceRequest, PriceAnswer> = {
  untouched: { rule: 0, prices: ['0', '1', '2'], changes: {} },
  respond,
  reads: ['read', 'status'],
  tagged: ['updateRule'],
  // Only what waits clashes, and each that waits is still to come due.
  visible: ({ changes, ...state }, isNamed) => ({
    ...state,
    changes: Object.entries(changes)
      .sort()
      .flatMap(([tag, { former, ...change }]) => {
        if (change.status === 0 && !isScheduled(tag, isNamed)) return []
        if (!isNamed(tag, 'status', 'cancel', 'undo', 'due', 'scheduleTerms', 'scheduleRule')) return []
        return [[tag, change, ...(isNamed(tag, 'undo') ? [former] : [])]]
      }),
  }),
  isIdle: ({ changes }, { action, tag = '' }, isNamed) =>
    action === 'due' && changes[tag] === undefined && !isScheduled(tag, isNamed),
}

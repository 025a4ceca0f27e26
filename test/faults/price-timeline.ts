// A simple model of prices: past, present and future values, as turns in the order of time.

/** When something happened: at a known moment, or some time within a request. */
export interface When {
  from: number
  to: number
}

export interface Turn<Value> extends When {
  value: Value
  /** The price change that brought the value; null for an update; undefined where either may have been first. */
  change: number | null | undefined
}

/** A value over time. A turn to the same value does not count. */
export class Timeline<Value> {
  private readonly first: Turn<Value>
  private readonly turns: Turn<Value>[] = []

  constructor(first: Turn<Value>) {
    this.first = first
  }

  add(turn: Turn<Value>): void {
    this.turns.push(turn)
    // If two turns may have happened at the same time, the one that was added later is the later one.
    this.turns.sort((one, other) => one.from - other.from || one.to - other.to)
  }

  remove(change: number): void {
    const place = this.turns.findIndex((turn) => turn.change === change)
    if (place >= 0) this.turns.splice(place, 1)
  }

  /** The turns that changed something, in the order of time. */
  private get effective(): Turn<Value>[] {
    const found = [this.first]
    for (const turn of this.turns) if (turn.value !== (found.at(-1) as Turn<Value>).value) found.push(turn)
    return found
  }

  /** Whether the value before this moment is uncertain. */
  isUncertain(bound: number): boolean {
    return this.turns.some(({ from, to }) => from < bound && to >= bound)
  }

  /** Whether a change may have taken effect within this time. */
  isMoving({ from, to }: When): boolean {
    return this.turns.some((turn) => turn.from <= to && turn.to >= from)
  }

  /** The value before a moment, the turn that began it, and the turn that ended it. */
  before(bound: number): { held: Turn<Value>; next: Turn<Value> | undefined } {
    const turns = this.effective
    const place = Math.max(
      0,
      turns.findLastIndex(({ to }) => to < bound),
    )
    return { held: turns[place] as Turn<Value>, next: turns[place + 1] }
  }

  /** The value before a price change took effect; undefined if the change had no effect. */
  formerOf(change: number): Value | undefined {
    const turns = this.effective
    const place = turns.findIndex((turn) => turn.change === change)
    return place > 0 ? (turns[place - 1] as Turn<Value>).value : undefined
  }

  /** What a price change brings. */
  broughtBy(change: number): Value | undefined {
    return this.turns.find((turn) => turn.change === change)?.value
  }

  /** The turns at a known moment within this time. */
  within({ from, to }: When): readonly Turn<Value>[] {
    return this.turns.filter((turn) => turn.from === turn.to && turn.from > from && turn.from <= to)
  }
}

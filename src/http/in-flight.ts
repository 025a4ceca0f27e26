/** How many requests are under way in this process, and how many may be. */
export class InFlight {
  count = 0
  readonly most: number

  constructor(most: number) {
    this.most = most
  }

  get isFull(): boolean {
    return this.count >= this.most
  }
}

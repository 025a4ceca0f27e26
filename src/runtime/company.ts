/** When all work has been of one name for this long, that name is alone. */
const companyMs = 1000

/** A caller that is alone needs to leave nothing to others. */
export class Company {
  private lastName = ''
  private until = 0

  note(name: string): void {
    if (name === this.lastName) return
    this.lastName = name
    this.until = performance.now() + companyMs
  }

  /** How long the last name still counts as not alone; 0 or less if it is alone. */
  get restMs(): number {
    return this.until - performance.now()
  }
}

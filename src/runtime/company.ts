/** When all work has been of one name for this long, that name is alone. */
const companyMs = 1000

/** Whether several callers use the service, or one alone, who then needs to leave nothing to others. */
export class Company {
  private lastName = ''
  private until = 0

  /** Records whose work this is. */
  note(name: string): void {
    if (name === this.lastName) return
    this.lastName = name
    this.until = performance.now() + companyMs
  }

  /** For how many more milliseconds the last one counts as not alone; 0 or less when it is alone. */
  get restMs(): number {
    return this.until - performance.now()
  }
}

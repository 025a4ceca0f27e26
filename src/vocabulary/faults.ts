/** Why work inside the service can't go on. It is never sent: callers get a `Refusal`, people at a terminal a `UserError`. */
export class Fault<Detail = unknown> extends Error {
  readonly kind: string
  readonly detail: Detail
  constructor(kind: string, detail: Detail, message: string) {
    super(message)
    this.kind = kind
    this.detail = detail
  }
}

/** Returns what makes faults of this kind and, as `is`, tells them from others. */
export function faultKind<Detail = string>(kind: string, messageOf: (detail: Detail) => string = String) {
  const make = (detail: Detail) => new Fault(kind, detail, messageOf(detail))
  const is = (error: unknown): error is Fault<Detail> => error instanceof Fault && error.kind === kind
  return Object.assign(make, { is })
}

/** Resolves in another task, before which the browser responds to the user. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve))
}

/**
 * Joins the look-ups of one moment into one request for each application: each row of a table asks only for itself, and
 * one request asks for up to `most` rows. `load` returns the results by key.
 */
export function joined<Item>(most: number, load: (appId: string, keys: string[]) => Promise<Map<string, Item>>) {
  const waiting = new Map<string, Asked<Item>[]>()

  function send(appId: string): void {
    const asked = waiting.get(appId) ?? []
    waiting.delete(appId)
    for (let from = 0; from < asked.length; from += most) void settle(appId, asked.slice(from, from + most))
  }

  async function settle(appId: string, asked: Asked<Item>[]): Promise<void> {
    try {
      const found = await load(appId, [...new Set(asked.map(({ key }) => key))])
      for (const { key, resolve } of asked) resolve(found.get(key) ?? null)
    } catch (error) {
      for (const { reject } of asked) reject(error)
    }
  }

  return (appId: string, key: string): Promise<Item | null> =>
    new Promise((resolve, reject) => {
      const asked = waiting.get(appId)
      if (asked !== undefined) asked.push({ key, resolve, reject })
      else {
        waiting.set(appId, [{ key, resolve, reject }])
        // Rows of one table are drawn in one turn, so all of them have asked by then.
        setTimeout(() => send(appId))
      }
    })
}

interface Asked<Item> {
  key: string
  resolve: (item: Item | null) => void
  reject: (error: unknown) => void
}

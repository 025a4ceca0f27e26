import { hashKey, type QueryClient, QueryObserver, type QueryOptions, useQueryClient } from '@tanstack/react-query'
import { useCallback, useDeferredValue, useSyncExternalStore } from 'react'
import { language } from '../../language/index.ts'

interface SharedOptions<Data> extends Pick<QueryOptions<Data>, 'queryFn'> {
  queryKey: readonly unknown[]
  /** The interval at which the request is repeated, in milliseconds. */
  refetchInterval?: number
}

interface Shared {
  cells: Set<() => void>
  stop: () => void
}

/** The observers, by the hash of their query's key. */
const shared = new Map<string, Shared>()

/**
 * Reads a query for a table's cell. All cells with the same query share one observer: with one for each cell, a page
 * took longer to subscribe to its data than to draw it. Undefined until the data are loaded, and if they are refused.
 */
export function useShared<Data>(options: SharedOptions<Data>): Data | undefined {
  const client = useQueryClient()
  const hash = hashOf(options.queryKey)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the hash stands for the options.
  const subscribe = useCallback((cell: () => void) => share(client, hash, options, cell), [client, hash])
  // All cells get their data at once. The deferred value lets React draw them in slices.
  return useDeferredValue(
    useSyncExternalStore(subscribe, () => client.getQueryCache().get<Data>(hash)?.state.data as Data | undefined),
  )
}

const hashes = new WeakMap<readonly unknown[], string>()

/** The hash of a query's key, computed once for all cells that share the key. */
function hashOf(key: readonly unknown[]): string {
  const hash = hashes.get(key) ?? hashKey(key)
  hashes.set(key, hash)
  return hash
}

function share<Data>(client: QueryClient, hash: string, options: SharedOptions<Data>, cell: () => void): () => void {
  const known = shared.get(hash) ?? observe(client, options)
  shared.set(hash, known)
  known.cells.add(cell)
  return () => {
    known.cells.delete(cell)
    if (known.cells.size > 0) return
    known.stop()
    if (shared.get(hash) === known) shared.delete(hash)
  }
}

function observe<Data>(client: QueryClient, options: SharedOptions<Data>): Shared {
  const cells = new Set<() => void>()
  const observer = new QueryObserver(client, { ...options, notifyOnChangeProps: ['data'] })
  let stop = () => {}
  // The first subscription sends the request. In the task that draws the table, that would delay its drawing.
  const start = setTimeout(() => {
    stop = observer.subscribe(() => {
      for (const cell of cells) cell()
    })
  })
  return {
    cells,
    stop: () => {
      clearTimeout(start)
      stop()
    },
  }
}

interface OfRowsOptions<Row, Found> {
  /** Distinguishes the query from those of other tables. */
  name: string
  keyOf: (row: Row) => string
  /** Returns what belongs to up to 100 rows of an application, by their keys. */
  load: (appId: string, keys: string[]) => Promise<Record<string, Found>>
  /** In milliseconds. */
  refetchInterval: number
}

/** The most keys that one request asks for. */
const most = 100

/**
 * Returns a hook that reads what belongs to a row of a table. The rows of one application are asked for in one request.
 * The hook returns null for a row to which nothing belongs, and undefined until that is known.
 */
export function ofRows<Row extends { appId: string }, Found>({
  name,
  keyOf,
  load,
  ...rest
}: OfRowsOptions<Row, Found>) {
  type All = Record<string, Found | null>

  async function loadAll(appId: string, keys: string[]): Promise<All> {
    const portions = Array.from({ length: Math.ceil(keys.length / most) }, (_, at) =>
      keys.slice(at * most).slice(0, most),
    )
    const found = await Promise.all(portions.map((portion) => load(appId, portion)))
    return Object.assign(Object.fromEntries(keys.map((key) => [key, null])), ...found)
  }
  const start = (appId: string) => [name, appId, language()]
  /** The queries of a table's rows: its cells need not each gather the keys. */
  const queries = new WeakMap<readonly Row[], Map<string, SharedOptions<All>>>()
  function queryOf(rows: readonly Row[], appId: string): SharedOptions<All> {
    const known = queries.get(rows) ?? new Map<string, SharedOptions<All>>()
    queries.set(rows, known)
    const kind = start(appId).join()
    const ofApplication = () => rows.filter((row) => row.appId === appId).map(keyOf)
    const query = known.get(kind) ?? queryFor(appId, ofApplication())
    known.set(kind, query)
    return query
  }
  const queryFor = (appId: string, keys: string[]) => ({
    ...rest,
    queryKey: [...start(appId), keys],
    queryFn: () => loadAll(appId, keys),
  })
  return function useOfRow(row: Row, rows: readonly Row[] = [row]): Found | null | undefined {
    const { appId } = row
    const client = useQueryClient()
    const all = useShared(queryOf(rows, appId))
    const here = all?.[keyOf(row)]
    if (here !== undefined) return here
    // While other rows of the table are loaded, a row that was in the table before keeps what was known of it.
    const before = client.getQueriesData<All>({ queryKey: start(appId) })
    return before.findLast(([, found]) => found?.[keyOf(row)] !== undefined)?.[1]?.[keyOf(row)]
  }
}

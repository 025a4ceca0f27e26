import { useQuery } from '@tanstack/react-query'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { pageSites, type SiteRecord } from '../../../src/sites/contract.ts'
import { call } from '../api/api.ts'
import type { MapPoint } from './point.ts'

/** The most sites that a map reads. */
const most = 1000

interface SitePoints {
  sites: SiteRecord[]
  /** Whether more sites match than were read. */
  hasMore: boolean
}

/** Reads the newest matching sites for the map, page by page. */
export function useSitePoints(input: Record<string, unknown>) {
  return useQuery<SitePoints, ForecourtError>({
    queryKey: [pageSites.id, 'points', input],
    queryFn: ({ signal }) => readPoints(input, signal),
    placeholderData: (previous) => previous,
  })
}

async function readPoints(input: Record<string, unknown>, signal: AbortSignal): Promise<SitePoints> {
  const sites: SiteRecord[] = []
  let cursor: string | null = ''
  while (cursor !== null && sites.length < most && !signal.aborted) {
    const { data }: Awaited<ReturnType<typeof readPage>> = await readPage({ ...input, pageSize: 100, cursor })
    sites.push(...data.list)
    cursor = data.nextCursor
  }
  return { sites, hasMore: cursor !== null }
}

const readPage = (input: Record<string, unknown>) => call(pageSites, input)

/** The names that the division table has where a municipality has no city. Its own name is that of its province. */
const noCity = ['市辖区', '县']

/** The point of a site, with the names of its place; none without coordinates. */
export function pointOf({ id, longitude, latitude, ...site }: SiteRecord): MapPoint[] {
  const city = noCity.includes(site.cityName ?? '') ? site.provinceName : site.cityName
  return longitude === null || latitude === null ? [] : [{ id, longitude, latitude, city, district: site.districtName }]
}

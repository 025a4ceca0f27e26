import type { Statements } from '../../database/open.ts'
import { insertEventTexts, type NewEventText } from '../../events/store.ts'
import type { ShowMoment } from '../../vocabulary/moments.ts'
import { ofEachApplication, type WriteKind } from '../../writes/kind.ts'
import {
  decidePlacement,
  type Placement,
  type PlacementChange,
  type PlacementStep,
  placementTag,
  type Standing,
  showPlacement,
} from './rules.ts'
import { endPlacementsAt, readStanding, writePlacements } from './store.ts'

/** Changes of placements. Refuses as `decidePlacement` does. */
export function placementChanges(
  showMoment: ShowMoment,
): WriteKind<PlacementChange, ReadonlyMap<string, Standing>, Placement> {
  const show = (placement: Placement) => JSON.stringify(showPlacement(placement, showMoment))
  return {
    read: (tx, writes) =>
      ofEachApplication(writes, (appId, own) => {
        const serials = new Set(own.map(({ body }) => body.deviceNo))
        const siteIds = new Set(own.flatMap(({ body }) => body.to?.siteId ?? []))
        return readStanding(tx, appId, own.length, [...serials], [...siteIds])
      }),

    decide(known, { appId, body, actor, ifMatch }, now) {
      const standing = known.get(appId as string) as Standing
      const { placement, steps, wasPlaced } = decidePlacement(standing, body, { actor, ifMatch, now })
      return {
        outcome: steps.length === 0 ? 'existing' : wasPlaced ? 'updated' : 'created',
        shown: { record: show(placement), etag: placementTag(placement) },
        rows: steps.map((step) => step.placement),
        events: steps.map(eventOf(actor, showMoment)),
      }
    },

    save: writePlacements,
  }
}

const eventOf =
  (actor: string, showMoment: ShowMoment) =>
  ({ type, placement }: PlacementStep): NewEventText => ({
    appId: placement.appId,
    type,
    actor,
    subject: placement.deviceNo,
    record: JSON.stringify(showPlacement(placement, showMoment)),
  })

/** Ends the placements at sites that are to be deleted, with an event for each. The transaction must hold the application's lock. */
export async function clearSites(
  tx: Statements,
  appId: string,
  siteIds: readonly number[],
  { actor, now }: { actor: string; now: Date },
  showMoment: ShowMoment,
): Promise<void> {
  for (;;) {
    const over = await endPlacementsAt(tx, appId, siteIds, { actor, now })
    if (over.length === 0) return
    const steps = over.map((placement) => ({ type: 'device.unplaced' as const, placement }))
    await insertEventTexts(tx, steps.map(eventOf(actor, showMoment)), now)
  }
}

import { type ApplyChanges, type Change, type ChangeLaneParts, changeLane, decided } from '../../callers/change-lane.ts'
import type { Statements } from '../../database/open.ts'
import { insertEvents } from '../../events/store.ts'
import type { ShowMoment } from '../../vocabulary/moments.ts'
import type { Refusal } from '../../vocabulary/refusals.ts'
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

/** The outcome of a change of a placement, and whether the device was placed before. */
export type PlacementOutcome = { item: Placement; isChanged: boolean; wasPlaced: boolean } | { refusal: Refusal }

interface PlannedPlacements {
  outcomes: PlacementOutcome[]
  steps: PlacementStep[]
}

/**
 * Decides changes of an application's placements, in order; writes nothing. The transaction must hold the application's
 * lock.
 */
export async function planPlacements(
  tx: Statements,
  appId: string,
  changes: readonly Change<PlacementChange>[],
): Promise<PlannedPlacements> {
  const serials = new Set(changes.map(({ body }) => body.deviceNo))
  const siteIds = new Set(changes.flatMap(({ body }) => body.to?.siteId ?? []))
  const standing: Standing = await readStanding(tx, appId, changes.length, [...serials], [...siteIds])
  const steps: PlacementStep[] = []
  const outcomes = changes.map(({ body, actor, ifMatch }) =>
    decided(() => {
      const change = decidePlacement(standing, body, actor, ifMatch)
      steps.push(...change.steps)
      return { item: change.placement, isChanged: change.steps.length > 0, wasPlaced: change.wasPlaced }
    }),
  )
  return { outcomes, steps }
}

/** Changes placements of an application, in order, in a transaction that holds its lock. */
export async function changePlacements(
  tx: Statements,
  appId: string,
  changes: readonly Change<PlacementChange>[],
  showMoment: ShowMoment,
): Promise<PlacementOutcome[]> {
  const { outcomes, steps } = await planPlacements(tx, appId, changes)
  // A placement that changes twice in the batch is written once, with its last values.
  const last = new Map(steps.map(({ placement }) => [placement.id, placement]))
  await writePlacements(tx, appId, [...last.values()])
  await insertEvents(tx, appId, steps.map(toEvent(showMoment)))
  return outcomes
}

const toEvent =
  (showMoment: ShowMoment) =>
  ({ type, actor, placement }: PlacementStep) => ({
    type,
    actor,
    subject: placement.deviceNo,
    data: showPlacement(placement, showMoment),
  })

/** Opens the lane of placements, of single requests and of batches. Returns its submit function. */
export function placementLane(parts: ChangeLaneParts & { showMoment: ShowMoment }) {
  const { showMoment } = parts
  const apply: ApplyChanges<PlacementChange, Placement> = (tx, appId, changes) =>
    changePlacements(tx, appId, changes, showMoment)
  return changeLane(parts, 'placements', apply, (placement) => ({
    record: JSON.stringify(showPlacement(placement, showMoment)),
    etag: placementTag(placement),
  }))
}

/** Ends the placements at sites that are to be deleted, with an event for each. The transaction must hold the application's lock. */
export async function clearSites(
  tx: Statements,
  appId: string,
  siteIds: readonly number[],
  actor: string,
  showMoment: ShowMoment,
): Promise<void> {
  for (;;) {
    const over = await endPlacementsAt(tx, appId, siteIds, actor)
    if (over.length === 0) return
    const steps = over.map((placement) => ({ type: 'device.unplaced' as const, actor, placement }))
    await insertEvents(tx, appId, steps.map(toEvent(showMoment)))
  }
}

import { randomBytes } from 'node:crypto'
import type { Static } from 'typebox'
import { hashSecret, newSecret } from '../callers/credentials.ts'
import { applicationOf, visibleApplications } from '../callers/permissions.ts'
import { writeOnce } from '../callers/write-once.ts'
import type { Context } from '../context.ts'
import type { Statements } from '../database/open.ts'
import { insertEvent, insertPlatformEvent } from '../events/store.ts'
import { etagOf, requireMatch, tagged } from '../http/etag.ts'
import { type Handler, handle, type OperationRequest, read } from '../http/handler.ts'
import type { EventType, PlatformEventType } from '../vocabulary/event-types.ts'
import { given } from '../vocabulary/values.ts'
import { writeAlone } from '../writes/alone.ts'
import type { ApplicationRecord } from './contract.ts'
import * as contract from './contract.ts'
import * as store from './store.ts'
import { configFaults, saveConfig, shownTo } from './third-party-config/save.ts'

export function applicationRoutes(context: Context): Handler[] {
  const { sql, callers, config } = context
  const { timeZone, presenceSeconds, inventoryPolicy, coordinates: coordinateSystem } = config
  const service = { timeZone, presenceSeconds, inventoryPolicy, coordinateSystem }
  const show = (application: store.Application) => store.showApplication(application)
  const tagOf = (application: store.Application) => store.tagOf(application)

  const logEvent = (
    tx: Statements,
    type: PlatformEventType,
    actor: string,
    data: ApplicationRecord,
    address?: string,
  ) => insertPlatformEvent(tx, { type, actor, subject: data.appId, address, data })

  /** Changes an application under its lock; writes an event only if `changed` returns a change. */
  async function changeState(
    { body: { appId }, actor, pending }: Pick<OperationRequest<{ appId: string }>, 'body' | 'actor' | 'pending'>,
    type: EventType,
    changed: (application: store.Application) => store.ApplicationChange | undefined,
  ) {
    const application = await pending.transaction(sql, async (tx) => {
      const before = await store.requireLockedApplication(tx, appId)
      const change = changed(before)
      if (change === undefined) return before
      const after = await store.updateApplication(tx, appId, change)
      await insertEvent(tx, { appId, type, actor, subject: null, data: show(after) })
      return after
    })
    await callers.noteChange(appId)
    return show(application)
  }

  async function create(tx: Statements, body: CreateBody, appSecret: string, actor: string) {
    const limit = limitOf(body)
    const application = await store.insertApplication(tx, {
      appId: randomBytes(10).toString('hex'),
      appName: body.appName,
      secretHash: hashSecret(appSecret),
      tokenLifetimeSeconds: given(body.tokenLifetimeSeconds) ?? contract.defaultTokenLifetimeSeconds,
      rateLimitPerSecond: limit === undefined ? contract.defaultRateLimitPerSecond : limit,
    })
    await logEvent(tx, 'application.created', actor, show(application))
    const thirdParty = given(body.thirdPartyConfig)
    const { appId } = application
    const saved = thirdParty === null ? null : await saveConfig(context, tx, { ...thirdParty, appId }, actor)
    return { ...show(application), appSecret, thirdPartyConfig: saved?.record ?? null }
  }

  return [
    handle(
      contract.createApplication,
      async ({ body, actor, ...request }) => {
        const made = await writeOnce(sql, request, (tx) => create(tx, body, newSecret(), actor))
        const { appSecret, thirdPartyConfig, ...record } = made
        const shown = thirdPartyConfig && shownTo(request.caller, context, thirdPartyConfig)
        return tagged({ ...made, thirdPartyConfig: shown }, etagOf(record))
      },
      { check: (body) => configFaults(given(body.thirdPartyConfig) ?? {}, config, 'thirdPartyConfig.') },
    ),

    handle(contract.updateApplication, async ({ body, actor, header, pending }) => {
      const change: store.ApplicationChange = {}
      if (body.appName !== undefined) change.appName = body.appName
      const limit = limitOf(body)
      if (limit !== undefined) change.rateLimitPerSecond = limit
      if (body.tokenLifetimeSeconds !== undefined) {
        change.tokenLifetimeSeconds = given(body.tokenLifetimeSeconds) ?? contract.defaultTokenLifetimeSeconds
      }
      const application = await pending.transaction(sql, async (tx) => {
        const before = await store.requireLockedApplication(tx, body.appId)
        requireMatch(header('if-match'), tagOf(before))
        const after = await store.updateApplication(tx, body.appId, change)
        if (tagOf(after) !== tagOf(before)) await logEvent(tx, 'application.updated', actor, show(after))
        return after
      })
      await callers.noteChange(body.appId)
      return tagged(show(application), tagOf(application))
    }),

    handle(contract.takeApplicationOnline, (request) =>
      changeState(request, 'application.online', ({ onlineStatus }) =>
        onlineStatus === 1 ? undefined : { onlineStatus: 1 },
      ),
    ),

    handle(contract.takeApplicationOffline, (request) =>
      changeState(request, 'application.offline', ({ onlineStatus }) =>
        onlineStatus === 2 ? undefined : { onlineStatus: 2 },
      ),
    ),

    handle(contract.freezeApplication, (request) =>
      changeState(request, 'application.frozen', ({ status, frozenReason }) =>
        status === 2 && frozenReason === request.body.reason
          ? undefined
          : { status: 2, frozenReason: request.body.reason },
      ),
    ),

    handle(contract.unfreezeApplication, (request) =>
      changeState(request, 'application.unfrozen', ({ status }) =>
        status === 1 ? undefined : { status: 1, frozenReason: null },
      ),
    ),

    handle(contract.rotateApplicationSecret, async (request) => {
      const { caller, body, actor, sourceAddress } = request
      const appId = applicationOf(caller, body.appId)
      const answer = await writeAlone(sql, request, appId, async (tx) => {
        const appSecret = newSecret()
        const overlapSeconds = given(body.overlapSeconds) ?? 0
        const rotated = show(await store.replaceSecret(tx, appId, hashSecret(appSecret), overlapSeconds))
        await logEvent(tx, 'application.secretRotated', actor, rotated, sourceAddress())
        return { ...rotated, appSecret }
      })
      await callers.noteChange(appId)
      return answer
    }),

    handle(contract.endPreviousApplicationSecret, async (request) => {
      const { caller, body, actor, header, sourceAddress } = request
      const appId = applicationOf(caller, body.appId)
      const application = await writeAlone(sql, request, appId, async (tx) => {
        const before = await store.requireApplication(tx, appId)
        requireMatch(header('if-match'), tagOf(before))
        if (!before.hasPreviousSecret) return before
        const after = await store.endPreviousSecret(tx, appId)
        await logEvent(tx, 'application.previousSecretEnded', actor, show(after), sourceAddress())
        return after
      })
      await callers.noteChange(appId)
      return tagged(show(application), tagOf(application))
    }),

    read(contract.getApplication, async ({ sql, caller, query }) => {
      const application = await store.requireApplication(sql, applicationOf(caller, query.appId))
      const record = show(application)
      return tagged(caller.kind === 'application' ? { ...record, ...service } : record, tagOf(application))
    }),

    read(contract.pageApplications, ({ sql, caller, query }) =>
      store.pageOfApplications(sql, { ...query, appIds: visibleApplications(caller) }),
    ),
  ]
}

type CreateBody = Static<NonNullable<typeof contract.createApplication.body>>

/** Returns a body's limit: null means no limit, undefined means none is given. */
function limitOf({ rateLimitPerSecond: limit }: Pick<CreateBody, 'rateLimitPerSecond'>): number | null | undefined {
  return limit === '' ? undefined : limit
}

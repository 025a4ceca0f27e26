// Made from the contracts by `npm run generate`. Not to be edited.

import type { ExportMethod, FileMethod, Followed, Method, PageMethod } from './method.ts'

export type { CallOptions, StreamOptions } from './method.ts'

export interface Act {
  /** The id of the record. */
  id: number
  appId: string
  kind: ActKind
  act: ActName
  /** The filters of the page operation of the kind, as JSON values: at least one of them, or `all`. A row must fit all of them. */
  filter: ActFilter
  /** For update: the members to change, as the update of one row takes them. */
  set: DeviceChanges | SiteChanges | null
  /** for a transfer: the new owner; null for callers that may not see it */
  targetAppId: string | null
  /** The reason, in words. */
  reason: string | null
  /** True: the rows were only counted. */
  dryRun: boolean
  status: ActStatus
  /** How many rows matched when the act began. */
  rows: number
  /** Rows that the act changed. */
  done: number
  /** Rows that needed no change; they write no event. */
  unchanged: number
  /** Rows that were refused. */
  refused: number
  /** Who acted: application:…, operator:… or operatorKey:…. */
  actor: string
  /** When the record was created. */
  createTime: string
  /** When the act ended; null before. */
  finishTime: string | null
  /** Why the act failed; null if it did not fail. */
  error: string | null
  /** `error` as data; null if the job did not fail. */
  failure: JobFailure | null
}

export interface ActFilter {
  /** a part of the name, regardless of upper and lower case */
  siteName?: string | null | undefined
  /** a part of the contact person’s name, regardless of upper and lower case */
  contacts?: string | null | undefined
  /** The province’s code. */
  provinceCode?: string | null | undefined
  /** The city’s code. */
  cityCode?: string | null | undefined
  /** The district’s code. */
  districtCode?: string | null | undefined
  /** Only rows about this billing rule. */
  billingRuleId?: number | null | undefined
  /** true: only sites at which a device stands; false: only those without one. */
  hasDevices?: boolean | null | undefined
  /** Only rows from this moment on. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | null | undefined
  /** Only rows up to this moment, including all of its second. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | null | undefined
  /** A rectangle of the map: minLng,minLat,maxLng,maxLat in decimal degrees. No minimum is above its maximum, and the edges belong to it. */
  bbox?: string | null | undefined
  /** true: every row; without other filters. */
  all?: boolean | null | undefined
  /** a part of the serial number, regardless of upper and lower case */
  deviceNo?: string | null | undefined
  /** a part of the name, regardless of upper and lower case */
  deviceName?: string | null | undefined
  /** Free text for the integrator’s own use. */
  tag?: string | null | undefined
  /** The device’s model; null if unknown. */
  modelName?: string | null | undefined
  /** 1 normal, 2 fault. */
  status?: DeviceStatus | null | undefined
  /** 1 online, 2 offline. */
  onlineStatus?: OnlineStatus | null | undefined
  /** 0 closed, 1 open, 2 stopped. */
  runStatus?: RunStatus | null | undefined
  /** Only devices that stand at this site. */
  siteId?: number | null | undefined
  /** true: only devices that stand at a site; false: only those that stand at no site. */
  isPlaced?: boolean | null | undefined
  /** Only devices whose newest report is from this moment on. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  lastReportFrom?: string | null | undefined
  /** Only devices that have reported, the last time up to this moment, including all of its second. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  lastReportTo?: string | null | undefined
  /** true: only devices that have reported; false: only devices that never reported. */
  hasReported?: boolean | null | undefined
}

/** The kind of the rows. */
export type ActKind = 'devices' | 'sites'

/** Of devices: update, unbind and, for operators, forceUnbind and transfer; of sites: update and delete. */
export type ActName = 'update' | 'unbind' | 'forceUnbind' | 'transfer' | 'delete'

export type ActPage = Page & {
  /** The rows of this page. */
  list: Array<Act>
}

/** 1 waiting, 2 running, 3 done, 4 failed, 5 cancelled. */
export type ActStatus = 1 | 2 | 3 | 4 | 5

export interface Application {
  appId: string
  /** The application’s name, for people. */
  appName: string
  /** 1 online, 2 offline. */
  onlineStatus: 1 | 2
  /** 1 normal, 2 frozen. */
  status: 1 | 2
  /** Why the application is frozen; null if it is not frozen. */
  frozenReason: string | null
  /** How many seconds an access token lives; 7200 by default. */
  tokenLifetimeSeconds: number
  /** How many requests the application may make per second; null for no limit. */
  rateLimitPerSecond: number | null
  /** Until when the secret before the last rotation works, with its tokens, beside the present one; null when none does. */
  overlapUntil: string | null
  /** When the record was created. */
  createTime: string
}

export type ApplicationCallback = Callback & {
  /** What happened. */
  type: 'application.online' | 'application.offline' | 'application.frozen' | 'application.unfrozen'
  data: Application
}

export type ApplicationEvent = EventHead & {
  /** What happened. */
  type: 'application.online' | 'application.offline' | 'application.frozen' | 'application.unfrozen'
  /** The record, as the operations on such records answer it. */
  data: Application
}

export type ApplicationPage = Page & {
  /** The rows of this page. */
  list: Array<Application>
}

export type ApplicationWithSecret = Application & {
  /** shown once: the service keeps only its SHA-256, so the answer to a retry has null */
  appSecret: string | null
}

export interface AttemptCounts {
  /** how many attempts were made for the deliveries that were begun in this time, also before these were sent again; tests do not count */
  attempts: number
  /** how many of these attempts failed */
  failed: number
}

/** Why attempts failed: an answer other than 2xx, a host name that is unknown or not looked up in time, a private address, no answer in time, a connection that was refused, closed, has no route or no valid certificate, a URL that is no longer allowed, a secret that cannot be opened, an event that is no longer kept, or anything else. */
export type AttemptError = 'httpStatus' | 'nameNotFound' | 'nameServerSilent' | 'privateAddress' | 'timeout' | 'refused' | 'closed' | 'unreachable' | 'tls' | 'url' | 'secret' | 'eventGone' | 'other'

export interface AuditEntry {
  /** the id, ascending within an application */
  id: number
  /** What happened. */
  type: LoggedType
  /** the application; null for an event that is about none */
  appId: string | null
  time: string
  /** The instant of `time` in RFC 3339, to the millisecond. */
  occurredAt: string
  /** Who acted: application:…, operator:… or operatorKey:…. */
  actor: string
  /** The record, as the operations on such records answer it. */
  data: Record<never, never>
  /** the id of the account or key that acted, which stays the same when it is renamed */
  actorId: number | null
  /** what the event is about: a serial number or an id */
  subject: string | null
  /** the source address, for events that record it */
  address: string | null
}

export type AuditEntryPage = Page & {
  /** The rows of this page. */
  list: Array<AuditEntry>
}

export interface BegunAct {
  /** null for a dry run, of which nothing is kept */
  id: number | null
  appId: string
  kind: ActKind
  act: ActName
  /** The filters of the page operation of the kind, as JSON values: at least one of them, or `all`. A row must fit all of them. */
  filter: ActFilter
  /** For update: the members to change, as the update of one row takes them. */
  set: DeviceChanges | SiteChanges | null
  /** for a transfer: the new owner; null for callers that may not see it */
  targetAppId: string | null
  /** The reason, in words. */
  reason: string | null
  /** True: the rows were only counted. */
  dryRun: boolean
  status: ActStatus
  /** How many rows matched when the act began. */
  rows: number
  /** Rows that the act changed. */
  done: number
  /** Rows that needed no change; they write no event. */
  unchanged: number
  /** Rows that were refused. */
  refused: number
  /** Who acted: application:…, operator:… or operatorKey:…. */
  actor: string
  /** When the record was created. */
  createTime: string
  /** When the act ended; null before. */
  finishTime: string | null
  /** Why the act failed; null if it did not fail. */
  error: string | null
  /** `error` as data; null if the job did not fail. */
  failure: JobFailure | null
}

export interface BillingRule {
  /** The id of the record. */
  id: number
  appId: string
  /** The billing rule’s name. */
  ruleName: string
  ruleType: RuleType
  /** For types 1 and 2: the prices by the time of day, in ascending order, the first at 00:00:00. */
  periods: Array<Period> | null
  /** For type 3: how many minutes after charging cost nothing. */
  freeMinutes: number | null
  /** For type 3: each period of this many minutes costs `unitPrice` as soon as the period begins. */
  unitMinutes: number | null
  /** For type 3: the price of one unit, in yuan. */
  unitPrice: string | null
  /** For type 3: the most that a day can cost, in yuan; null for no limit. */
  dailyCap: string | null
  /** When the record was created. */
  createTime: string
}

export type BillingRuleCallback = Callback & {
  /** What happened. */
  type: 'billingRule.created' | 'billingRule.updated' | 'billingRule.deleted'
  data: BillingRule
}

export type BillingRuleEvent = EventHead & {
  /** What happened. */
  type: 'billingRule.created' | 'billingRule.updated' | 'billingRule.deleted'
  /** The record, as the operations on such records answer it. */
  data: BillingRule
}

export type BillingRulePage = Page & {
  /** The rows of this page. */
  list: Array<BillingRule>
}

export interface Binding {
  appId: string
  boundAt: string
  /** when the binding ended; null while the binding lasts */
  unboundAt: string | null
  /** Who ended the binding. */
  unboundBy: string | null
  /** The reason, in words. */
  reason: string | null
}

export interface Callback {
  type: string
  /** When the event happened. */
  timestamp: string
  /** The application of the event. */
  appId: string
}

export interface CallbackFailure {
  /** Why the attempt failed; null when it did not. */
  error: AttemptError
  /** the `error` of these deliveries, in words */
  reason: string
  /** the HTTP status of the newest attempt; null without one */
  responseStatus: number | null
  /** how many of these deliveries wait for another attempt */
  waiting: number
  /** how many of these deliveries are dead */
  dead: number
  /** The time of the oldest event of these deliveries. */
  timeFrom: string
  /** The time of the newest event of these deliveries. */
  timeTo: string
}

export interface CallbackHealth {
  appId: string
  state: CallbackState
  callbacks: CallbacksSwitch
  /** until when nothing is sent to the endpoint, because attempts have failed */
  heldUntil: string | null
  /** since when every attempt has failed; null while none has */
  failingSince: string | null
  /** why the newest attempt failed */
  failingReason: string | null
  /** when the receiver last took one of the 5000 newest deliveries */
  lastSuccessTime: string | null
  /** false: the receiver has not taken any delivery since the first configuration, so it may not be set up yet. True also where older deliveries are no longer kept. */
  hasSucceeded: boolean
  /** The attempts of the last hour’s deliveries. */
  lastHour: AttemptCounts
  /** The attempts of the last 24 hours’ deliveries. */
  lastDay: AttemptCounts
  /** `lastHour` and `lastDay` count only the deliveries begun since this time; null if the last day has fewer than 5000 deliveries */
  countedFrom: string | null
  /** how many events wait and have no delivery yet, counted up to 10000 */
  waitingEvents: number
  /** How many events were made while the callback was stopped (410), and have no delivery; of a page, those in its time. They are sent only by a replay. Counted among the first 2000 events of each of the newest stops; null for several applications. */
  missedEvents: number | null
  /** whether all events of these stops were looked at */
  missedIsExact: boolean
  /** the time of the oldest of these events */
  missedFrom: string | null
  /** the time of the newest of these events */
  missedTo: string | null
  /** how many deliveries wait for another attempt, counted up to 5000 */
  waitingRetries: number
  /** the time of the oldest event that waits */
  waitingSince: string | null
  /** how many deliveries of events are dead, counted up to 5000 */
  dead: number
  /** the waiting and dead deliveries that have failed, by the cause of the failure, the most frequent first: 20 kinds at most */
  failures: Array<CallbackFailure>
}

/** off: no callback URL. delivering: the newest attempt was taken, or none was needed. failing: the newest attempts failed. held: nothing is sent until `heldUntil`. stopped: the receiver answered 410. paused: the service sends no callbacks. */
export type CallbackState = 'off' | 'delivering' | 'failing' | 'held' | 'stopped' | 'paused'

/** paused: no callbacks are sent. */
export type CallbacksSwitch = 'on' | 'paused'

export interface CancelActRequest {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | null | undefined
  /** The id of the record. */
  id: number
}

export interface CancelImportRequest {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | null | undefined
  /** The id of the record. */
  id: number
}

export interface CancelPriceChangeRequest {
  appId?: string | null | undefined
  /** The id of the record. */
  id: number
  /** The reason, in words. */
  reason: string
}

export interface ChangePasswordRequest {
  /** The present password. */
  password: string
  newPassword: string
}

/** `ids`, or `all`, or any of the others, all of which must fit; a member that is no filter is refused beside these. The sites are those that fit when the change is scheduled: 10000 at most. */
export interface ChosenSites {
  /** The ids of the sites. */
  ids?: Array<number> | null | undefined
  /** true: every site of the application. */
  all?: boolean | null | undefined
  /** The province’s code. */
  provinceCode?: string | null | undefined
  /** The city’s code. */
  cityCode?: string | null | undefined
  /** The district’s code. */
  districtCode?: string | null | undefined
  /** The sites that name this billing rule. */
  billingRuleId?: number | null | undefined
}

export type CompleteSignOnRequest = Record<never, never>

export interface CompleteSignOnResult {
  /** The page that was asked for. */
  returnTo: string
}

export interface ConfirmSessionRequest {
  /** The present password. */
  password?: string | null | undefined
  /** Six digits of the code generator, or a recovery code. */
  code?: string | null | undefined
  /** An operator key, instead of a name and a password. */
  operatorKey?: string | null | undefined
  /** The ticket of the options; it works once, for 5 minutes. */
  ticket?: string | null | undefined
  /** The credential as JSON (`PublicKeyCredential.toJSON()`). */
  credential?: Record<string, unknown> | null | undefined
}

export interface CreateActRequest {
  appId?: string | null | undefined
  kind: ActKind
  act: ActName
  /** The filters of the page operation of the kind, as JSON values: at least one of them, or `all`. A row must fit all of them. */
  filter: ActFilter
  /** For update: the members to change, as the update of one row takes them. */
  set?: DeviceChanges | SiteChanges | null | undefined
  /** For transfer: the application that the devices go to; it must be online. */
  targetAppId?: string | null | undefined
  /** In words; forceUnbind and transfer must have one. */
  reason?: string | null | undefined
  /** How many rows the caller has seen to match: with another number the act is refused. */
  expectedRows?: number | null | undefined
  /** true: only counts the rows. Nothing is kept: `id` is null, and no idempotency key is used up. */
  dryRun?: boolean | null | undefined
}

export interface CreateApplicationRequest {
  /** The application’s name, for people. */
  appName: string
  /** How many seconds an access token lives; 7200 by default. */
  tokenLifetimeSeconds?: number | null | undefined
  /** how many requests the application may make per second, over all processes of a machine; default 1000, null for no limit */
  rateLimitPerSecond?: number | null | undefined
  /** The application’s third-party configuration. */
  thirdPartyConfig?: {
    /** The company’s name. */
    operatorName: string
    /** The company’s id: 9 letters or digits. */
    operatorId?: string | null | undefined
    /** The address of the callback: https; http only if the settings allow it. The query is stored encrypted: the application and admins read it in full; other callers and events get `?…` in its place. Sent back with `?…`, the address keeps the stored query. */
    callbackUrl?: string | null | undefined
    /** The types of event that are sent. */
    callbackEvents?: Array<EventType> | null | undefined
  } | null | undefined
}

export type CreateApplicationResult = ApplicationWithSecret & {
  /** The application’s third-party configuration. */
  thirdPartyConfig: ThirdPartyConfig | null
}

export interface CreateDevicesRequest {
  appId?: string | null | undefined
  /** devices, each as `createDevice` takes it but without `appId` */
  devices: Array<DeviceBatchRow>
}

export interface CreateExportQuery {
  /** The kind of the file’s rows. `audit` is refused to applications and developers. */
  kind: 'sites' | 'devices' | 'placements' | 'billingRules' | 'priceChanges' | 'events' | 'audit' | 'deliveries' | 'refusals'
  /** The format of the file; csv by default. */
  format?: 'csv' | 'ndjson' | 'geojson' | undefined
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** a part of the name, regardless of upper and lower case */
  siteName?: string | undefined
  /** a part of the contact person’s name, regardless of upper and lower case */
  contacts?: string | undefined
  /** The code of the site’s province. */
  provinceCode?: string | undefined
  /** The code of the site’s city. */
  cityCode?: string | undefined
  /** The code of the site’s district. */
  districtCode?: string | undefined
  /** Only rows about this billing rule. */
  billingRuleId?: number | undefined
  /** true: only sites at which a device stands; false: only those without one. */
  hasDevices?: 'true' | 'false' | undefined
  /** Only rows from this moment on. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows up to this moment, including all of its second. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
  /** A rectangle of the map: minLng,minLat,maxLng,maxLat in decimal degrees. No minimum is above its maximum, and the edges belong to it. */
  bbox?: string | undefined
  /** a part of the serial number, regardless of upper and lower case */
  deviceNo?: string | undefined
  /** a part of the name, regardless of upper and lower case */
  deviceName?: string | undefined
  /** Free text for the integrator’s own use. */
  tag?: string | undefined
  /** The device’s model; null if unknown. */
  modelName?: string | undefined
  /** The status, as the page operation of the kind filters by it. */
  status?: number | undefined
  /** 1 online, 2 offline. */
  onlineStatus?: OnlineStatus | undefined
  /** 0 closed, 1 open, 2 stopped. */
  runStatus?: RunStatus | undefined
  /** Only rows about this site. */
  siteId?: number | undefined
  /** true: only devices that stand at a site; false: only those that stand at no site. */
  isPlaced?: 'true' | 'false' | undefined
  /** Only devices whose newest report is from this moment on. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  lastReportFrom?: string | undefined
  /** Only devices that have reported, the last time up to this moment, including all of its second. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  lastReportTo?: string | undefined
  /** true: only devices that have reported; false: only devices that never reported. */
  hasReported?: 'true' | 'false' | undefined
  /** Serial numbers, 1 to 100, with commas between them. One that holds a comma itself cannot be named here. */
  deviceNos?: string | undefined
  /** 1 entrance, 2 exit, 3 both, 4 door. */
  laneType?: LaneType | undefined
  /** a part of the name, regardless of upper and lower case */
  ruleName?: string | undefined
  /** 1 fast charging, 2 slow charging, 3 occupancy. The type of a rule cannot be changed. */
  ruleType?: RuleType | undefined
  /** Only undos of these price changes: 1 to 100 ids, with commas between them. */
  undoOf?: string | undefined
  /** Only events with a larger id, which are newer. */
  afterId?: number | undefined
  /** Only events with a smaller id. */
  beforeId?: number | undefined
  /** One type of event or several, with commas between the types. */
  type?: string | undefined
  /** asc: oldest first (the default); desc: newest first. */
  order?: 'asc' | 'desc' | undefined
  /** the whole name of an actor, or its beginning: operator:… or operatorKey:… */
  actor?: string | undefined
  /** The id of the account or key that acted. */
  actorId?: number | undefined
  /** a whole serial number, the id of a site or a rule, or a new site’s name */
  subject?: string | undefined
  /** true: only deliveries of status 2; false: only those that wait or are dead. */
  isDelivered?: 'true' | 'false' | undefined
  /** Only the delivery of this event. */
  eventId?: number | undefined
  /** The code of a refusal. */
  code?: number | undefined
  /** the id of an operation */
  operation?: string | undefined
  /** the `X-Request-Id` of an answer */
  requestId?: string | undefined
}

export interface CreateImportQuery {
  /** The application’s id. A caller that is an application may leave out its own id; an operator must name an application, but for the inventory, which belongs to none. */
  appId?: string | undefined
  /** The kind of the file’s rows. */
  kind: ImportKind
  /** The format of the file; by default the media type decides. */
  format?: 'csv' | 'ndjson' | undefined
  /** upsert: a row that is there with other content is updated, devices and placements by `deviceNo`, sites by the column `id`; a site without one is new. A member without a column in the file is left as it is, an empty cell (in NDJSON null) clears an optional member, and the quote before a formula is taken off. Default: create. */
  mode?: 'create' | 'upsert' | undefined
  /** true: the import checks the rows and counts what would happen, but writes nothing. */
  dryRun?: 'true' | 'false' | undefined
  /** Columns of a CSV file, with commas between, that are ignored although no import has them; one without a usable name is `column N`. */
  ignoreColumns?: string | undefined
}

export interface CreateOperatorKeyRequest {
  /** The name of the account, key, region or check. */
  name: string
  /** What the operator may do. */
  role: 'admin' | 'operator' | 'viewer'
  /** when the key expires, as yyyy-MM-dd HH:mm:ss in the service’s time zone; by default in 180 days, at most in 366 */
  expireTime?: string | null | undefined
}

export type CreateOperatorKeyResult = OperatorKey & {
  /** shown once: the service keeps only its SHA-256, so the answer to a retry has null */
  operatorKey: string | null
}

export interface CreateOperatorRequest {
  /** The name of the account, key, region or check. */
  name: string
  role: Role
  /** The present password. */
  password?: string | null | undefined
  /** the applications that a developer is a member of */
  appIds?: Array<string> | null | undefined
}

export interface CreateSessionRequest {
  /** The name of the account, key, region or check. */
  name?: string | null | undefined
  /** The present password. */
  password?: string | null | undefined
  /** Six digits of the code generator, or a recovery code. */
  code?: string | null | undefined
  /** An operator key, instead of a name and a password. */
  operatorKey?: string | null | undefined
  /** The ticket of the options; it works once, for 5 minutes. */
  ticket?: string | null | undefined
  /** The credential as JSON (`PublicKeyCredential.toJSON()`). */
  credential?: Record<string, unknown> | null | undefined
}

export interface DeleteBillingRuleRequest {
  appId?: string | null | undefined
  /** The id of the record. */
  id: number
}

export interface DeleteDeviceInventoryRequest {
  deviceNo: string
}

export interface DeleteDeviceModelRequest {
  /** How the serial numbers of the model begin; the longest prefix that fits a serial number decides. */
  serialPrefix: string
}

export interface DeleteOperatorKeyRequest {
  /** The id of the record. */
  id: number
}

export interface DeleteOperatorRequest {
  /** The id of the record. */
  id: number
  /** Who takes over the keys and saved views of an account that ends: another, active account, and no developer if there are keys. */
  handOverTo?: number | null | undefined
}

export interface DeletePasskeyRequest {
  /** The id of the record. */
  id: number
}

export interface DeleteRegionRequest {
  /** Six digits, as in GB/T 2260: provinces end in 0000, cities in 00. */
  code: string
}

export interface DeleteSessionRequest {
  /** The id of the record. */
  id?: number | null | undefined
}

export interface DeleteSessionResult {
  /** Whether there was a session to end. */
  ended: boolean
  /** For one’s own session by single sign-on: the address at which to sign out at the provider too. */
  signOutUrl: string | null
}

export interface DeleteSiteRequest {
  appId?: string | null | undefined
  /** The id of the record. */
  id: number
}

export type DeleteTotpRequest = Record<never, never>

export interface DeleteViewRequest {
  /** The id of the record. */
  id: number
}

export interface Delivery {
  /** the id, ascending within an application */
  id: number
  /** the id of the event; null for a test */
  eventId: number | null
  appId: string
  /** The type of the event; `test` for a test. */
  type: DeliveryType
  /** the time of the event; for a test, when it was sent */
  time: string
  status: DeliveryStatus
  /** how many attempts there were since the delivery was created or last replayed */
  attempts: number
  /** When the record was created. */
  createTime: string
  /** when the next attempt follows, after any pause of the endpoint; null if none follows */
  nextAttemptTime: string | null
  /** When the delivery succeeded or was given up; null before. */
  finishTime: string | null
  /** the HTTP status of the newest attempt; null without an answer */
  responseStatus: number | null
  /** why the newest attempt failed */
  error: string | null
  /** the first 4 KiB of the newest answer */
  response: string | null
  /** How long the attempt took. */
  durationMs: number | null
  /** the newest 20 attempts, oldest first */
  attemptLog: Array<{
    time: string
    /** The status that the callback answered; null without an answer. */
    responseStatus: number | null
    /** Why the attempt failed; null when it did not. */
    error: string | null
    /** How long the attempt took. */
    durationMs: number
  }>
}

export type DeliveryPage = Page & {
  /** The rows of this page. */
  list: Array<Delivery>
}

/** 1 waiting for an attempt, 2 delivered, 3 dead. */
export type DeliveryStatus = 1 | 2 | 3

export type DeliveryType = 'site.created' | 'site.updated' | 'site.deleted' | 'device.bound' | 'device.updated' | 'device.unbound' | 'device.transferred' | 'device.stateChanged' | 'device.placed' | 'device.unplaced' | 'billingRule.created' | 'billingRule.updated' | 'billingRule.deleted' | 'priceChange.scheduled' | 'priceChange.cancelled' | 'priceChange.applied' | 'application.online' | 'application.offline' | 'application.frozen' | 'application.unfrozen' | 'thirdPartyConfig.saved' | 'test'

export type Device = UnownedDevice & {
  appId: string
}

/** The address of the device, although the member is called deviceBattery. */
export interface DeviceAddress {
  /** The city’s code. */
  cityCode: string
  /** The city’s name. */
  cityName: string | null
  coordinates: string
  /** The address below the district: street and number. */
  detailAddress: string | null
  /** The district’s code. */
  districtCode: string
  /** The district’s name. */
  districtName: string | null
  /** The province’s code. */
  provinceCode: string
  /** The province’s name. */
  provinceName: string | null
}

export interface DeviceBatchRow {
  deviceNo: string
  /** The device’s name. */
  deviceName: string
  /** Free text for the integrator’s own use. */
  tag?: string | null | undefined
  /** The province’s code. */
  provinceCode?: string | null | undefined
  /** The city’s code. */
  cityCode?: string | null | undefined
  /** The district’s code. */
  districtCode: string
  /** The address below the district: street and number. */
  detailAddress?: string | null | undefined
  coordinates: string
}

export interface DeviceBattery {
  /** The battery’s status, as the device numbers it. */
  batteryStatus: number | null
  /** the battery’s charge, as a percentage */
  batteryEnergy: string | null
}

export type DeviceCallback = Callback & {
  /** What happened. */
  type: 'device.bound' | 'device.updated' | 'device.unbound'
  data: Device
}

export interface DeviceChanges {
  /** The device’s name. */
  deviceName?: string | undefined
  /** Free text for the integrator’s own use. */
  tag?: string | null | undefined
  /** The province’s code. */
  provinceCode?: string | null | undefined
  /** The city’s code. */
  cityCode?: string | null | undefined
  /** The district’s code. */
  districtCode?: string | undefined
  /** The address below the district: street and number. */
  detailAddress?: string | null | undefined
  coordinates?: string | undefined
}

export interface DeviceDone {
  /** The value by which the row is known; null if the row has none. */
  deviceNo: string | null
  /** 0: the row was carried out. */
  code: 0
  /** For people: success, or why the row was refused. */
  msg: string
  /** The record, as the operation for a single row answers it. */
  data: Device
}

export type DeviceEvent = EventHead & {
  /** What happened. */
  type: 'device.bound' | 'device.updated' | 'device.unbound'
  /** The record, as the operations on such records answer it. */
  data: Device
}

export interface DeviceModel {
  /** How the serial numbers of the model begin; the longest prefix that fits a serial number decides. */
  serialPrefix: string
  /** The device’s model; null if unknown. */
  modelName: string
  /** The address of a picture of the model. */
  productPictureUrl: string | null
  /** The kind of device, taken from the device’s model. */
  deviceType: string | null
  /** The name of the kind of device. */
  deviceTypeName: string | null
  /** When the record was created. */
  createTime: string
}

export type DeviceModelPage = Page & {
  /** The rows of this page. */
  list: Array<DeviceModel>
}

export interface DeviceOutcomes {
  /** One outcome for each row, in the order of the rows. */
  results: Array<DeviceDone | DeviceRefused>
}

export type DevicePage = Page & {
  /** The rows of this page. */
  list: Array<Device>
}

export interface DeviceRefused {
  /** The value by which the row is known; null if the row has none. */
  deviceNo: string | null
  /** The code of the refusal: why the row was refused. */
  code: RefusalCode
  /** For people: success, or why the row was refused. */
  msg: string
  /** The faulty members of the row; null if none is faulty. */
  data: FieldFaults | null
}

export type DeviceRegistration = DeviceBatchRow & {
  appId: string
}

export interface DeviceState {
  appId: string
  deviceNo: string
  status: DeviceStatus
  onlineStatus: OnlineStatus
  runStatus: RunStatus
  /** What the device says about its status. */
  statusRemark: string | null
  /** The version of the device’s firmware. */
  version: string | null
  /** The battery’s status, as the device numbers it. */
  batteryStatus: number | null
  /** the battery’s charge, as a percentage */
  batteryEnergy: string | null
  /** When the device reported last. */
  lastReportTime: string | null
}

export interface DeviceStateChange {
  appId: string
  deviceNo: string
  status: DeviceStatus
  onlineStatus: OnlineStatus
  runStatus: RunStatus
  /** What the device says about its status. */
  statusRemark: string | null
  /** The version of the device’s firmware. */
  version: string | null
  /** The battery’s status, as the device numbers it. */
  batteryStatus: number | null
  /** the battery’s charge, as a percentage */
  batteryEnergy: string | null
  /** When the device reported last. */
  lastReportTime: string | null
  /** The members that changed, with the values before the change. */
  before: {
    status?: DeviceStatus | undefined
    onlineStatus?: OnlineStatus | undefined
    runStatus?: RunStatus | undefined
    /** What the device says about its status. */
    statusRemark?: string | null | undefined
    /** The version of the device’s firmware. */
    version?: string | null | undefined
    /** The battery’s status, as the device numbers it. */
    batteryStatus?: number | null | undefined
    /** the battery’s charge, as a percentage */
    batteryEnergy?: string | null | undefined
  }
}

export type DeviceStateChangeCallback = Callback & {
  /** What happened. */
  type: 'device.stateChanged'
  data: DeviceStateChange
}

export type DeviceStateChangeEvent = EventHead & {
  /** What happened. */
  type: 'device.stateChanged'
  /** The record, as the operations on such records answer it. */
  data: DeviceStateChange
}

export type DeviceStateOrStates = DeviceState | DeviceStates

export interface DeviceStates {
  /** The states in the order of `deviceNos`, without those of devices that are not the caller’s. */
  list: Array<DeviceState>
}

/** 1 normal, 2 fault. */
export type DeviceStatus = 1 | 2

export interface DeviceUpdateRow {
  deviceNo: string
  /** The device’s name. */
  deviceName?: string | undefined
  /** Free text for the integrator’s own use. */
  tag?: string | null | undefined
  /** The province’s code. */
  provinceCode?: string | null | undefined
  /** The city’s code. */
  cityCode?: string | null | undefined
  /** The district’s code. */
  districtCode?: string | undefined
  /** The address below the district: street and number. */
  detailAddress?: string | null | undefined
  coordinates?: string | undefined
}

export interface EndPreviousApplicationSecretRequest {
  appId?: string | null | undefined
}

export type Event = SiteEvent | DeviceEvent | TransferredDeviceEvent | DeviceStateChangeEvent | PlacementEvent | BillingRuleEvent | PriceChangeEvent | ApplicationEvent | ThirdPartyConfigEvent

export interface EventHead {
  /** the id, ascending within an application */
  id: number
  /** What happened. */
  type: EventType
  appId: string
  time: string
  /** The instant of `time` in RFC 3339, to the millisecond. */
  occurredAt: string
  /** Who acted: application:…, operator:… or operatorKey:…. */
  actor: string
}

export type EventPage = Page & {
  /** The rows of this page. */
  list: Array<Event>
}

export type EventType = 'site.created' | 'site.updated' | 'site.deleted' | 'device.bound' | 'device.updated' | 'device.unbound' | 'device.transferred' | 'device.stateChanged' | 'device.placed' | 'device.unplaced' | 'billingRule.created' | 'billingRule.updated' | 'billingRule.deleted' | 'priceChange.scheduled' | 'priceChange.cancelled' | 'priceChange.applied' | 'application.online' | 'application.offline' | 'application.frozen' | 'application.unfrozen' | 'thirdPartyConfig.saved'

export interface FieldFault {
  /** The path of the faulty member, for example devices[2].coordinates. */
  field: string
  /** Why the member is faulty, in the language that `Accept-Language` prefers. */
  reason: string
}

export interface FieldFaults {
  /** Every faulty member, not only the first; at most 1000. */
  errors: Array<FieldFault>
}

export interface Finding {
  /** what was found */
  code: 'asRoot' | 'backup' | 'backupFailed' | 'backupLate' | 'backupMissing' | 'backupNone' | 'callbacks' | 'callbacksDead' | 'callbacksFailing' | 'callbacksLate' | 'callbacksPaused' | 'certificate' | 'certificateEnded' | 'certificateEnds' | 'certificateUnknown' | 'clock' | 'clockAhead' | 'clockBehind' | 'connections' | 'connectionsFew' | 'database' | 'disk' | 'diskElsewhere' | 'diskFull' | 'diskFullSoon' | 'diskLittle' | 'durability' | 'durabilityOff' | 'nodes' | 'nodesUnfit' | 'replication' | 'replicationHidden' | 'replicationLost' | 'replicationNone' | 'vacuumOff' | 'workers' | 'workersMissing' | 'actFailed' | 'callbackDead' | 'callbackFailing' | 'callbackStopped' | 'deviceFaulty' | 'importFailed' | 'siteUnreachable'
  /** whether it is in order, will soon be a fault, or is one */
  status: 'ok' | 'warn' | 'fail'
  /** the values that belong to the finding; numbers as text, sizes in bytes */
  values: Array<{
    /** the value’s name */
    name: string
    /** the value */
    value: string
  }>
}

export interface ForceUnbindDeviceRequest {
  deviceNo: string
  /** The reason, in words. */
  reason: string
}

export interface Found {
  /** What was found; `operator` is an account, `request` a write that was refused. */
  kind: 'device' | 'site' | 'application' | 'billingRule' | 'operator' | 'request'
  /** The serial number, the `X-Request-Id`, or the id of the record. */
  id: string
  /** The application that it belongs to; null for none. */
  appId: string | null
  /** The name of the record; of a request, the id of the operation that was called. */
  name: string
}

export interface FreezeApplicationRequest {
  appId: string
  /** The reason, in words. */
  reason: string
}

export interface GetActQuery {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
}

export interface GetActResultQuery {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
  /** Only rows with this outcome. */
  outcome?: 'done' | 'unchanged' | 'refused' | undefined
}

export interface GetApplicationQuery {
  /** The application’s id. A caller that is an application may leave out its own id; an operator must name an application. */
  appId?: string | undefined
}

export type GetApplicationResult = Application & {
  /** The time zone in which times are shown and read. */
  timeZone?: string | undefined
  /** A device that sends no report for this long becomes offline. */
  presenceSeconds?: number | undefined
  /** required: only serial numbers in the inventory can be created. */
  inventoryPolicy?: 'open' | 'required' | undefined
  /** The coordinate system of all coordinates; nothing is converted. */
  coordinateSystem?: 'gcj02' | 'wgs84' | 'bd09' | undefined
}

export interface GetAuthorizationServerResult {
  /** The service’s address: the one in its settings, else the one that the caller used. */
  issuer: string
  /** Where tokens are issued. */
  token_endpoint: string
  /** How a client sends its secret to the endpoint. */
  token_endpoint_auth_methods_supported: Array<string>
  /** Where tokens are revoked. */
  revocation_endpoint: string
  /** How a client sends its secret to the endpoint. */
  revocation_endpoint_auth_methods_supported: Array<string>
  /** Always client_credentials. */
  grant_types_supported: Array<string>
  /** Always empty, because there is no sign-in by redirect. */
  response_types_supported: Array<string>
}

export interface GetBillingRuleQuery {
  /** The application’s id. A caller that is an application may leave out its own id; an operator must name an application. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
}

export interface GetCallbackHealthQuery {
  /** An application’s id, as the platform made it. */
  appId: string
}

export interface GetDeliveryQuery {
  /** The application’s id. A caller that is an application may leave out its own id; an operator must name an application. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
}

export interface GetDeviceHistoryQuery {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** A device’s serial number, as printed on the device. A serial number has one owner at a time. */
  deviceNo: string
}

export interface GetDeviceHistoryResult {
  /** the newest 1000 bindings */
  list: Array<Binding>
}

export interface GetDeviceQuery {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** A device’s serial number, as printed on the device. A serial number has one owner at a time. */
  deviceNo: string
}

export interface GetDeviceStateQuery {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** The device’s serial number. */
  deviceNo?: string | undefined
  /** Serial numbers, 1 to 100, with commas between them. One that holds a comma itself cannot be named here. */
  deviceNos?: string | undefined
}

export interface GetEventQuery {
  /** The application’s id. A caller that is an application may leave out its own id; an operator must name an application. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
}

export interface GetHealthResult {
  /** Always true. */
  alive: boolean
}

export interface GetImportQuery {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
}

export interface GetImportResultQuery {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
  /** Only rows with this outcome. */
  outcome?: 'created' | 'updated' | 'existing' | 'refused' | undefined
  /** true: the refused rows as they were sent, in the format of the file, with `refusedLine`, `refusedCode`, `refusedReason`. Correct them and send them again. */
  rows?: 'true' | 'false' | undefined
}

export interface GetOperatorQuery {
  /** The id of the record. */
  id: number
}

export interface GetOverviewResult {
  /** null while everything is counted for the first time */
  counts: PlatformCounts | null
  callbacks: CallbacksSwitch
  /** The time of the counts. */
  countTime: string | null
  /** the ten applications with the most problems */
  troubles: Array<Trouble>
  /** what needs attention, faults first: at most ten of each kind, and for applications those in `troubles` */
  attention: Array<Finding>
  /** the minutes of the last 24 hours, oldest first; minutes without creates and refusals are left out. The refusals are those that the refusal log keeps */
  minutes: Array<{
    time: string
    /** How many sites and devices were created. */
    creates: number
    /** how many of the creates were of sites */
    siteCreates: number
    /** How many writes were refused. */
    refusals: number
  }>
  /** how many devices were online in the last 24 hours, oldest first, one count each five minutes */
  online: Array<{
    time: string
    /** How many devices are online. */
    devicesOnline: number
  }>
  /** the newest entries of the audit trail without changes of device state */
  events: Array<AuditEntry>
}

export interface GetPlacementQuery {
  /** The application’s id. A caller that is an application may leave out its own id; an operator must name an application. */
  appId?: string | undefined
  /** A device’s serial number, as printed on the device. A serial number has one owner at a time. */
  deviceNo: string
}

export interface GetPriceChangeQuery {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
}

export interface GetReadinessResult {
  /** Whether requests can be served. */
  ready: boolean
  /** The checks, one for each thing that must be in order. */
  checks: Array<{
    /** The name of the account, key, region or check. */
    name: string
    /** Whether the check succeeds. */
    ok: boolean
  }>
  /** whether the service’s database is spread over the nodes of a Citus cluster */
  distributed: boolean
  callbacks: CallbacksSwitch
  /** how many processes serve on this machine, and how many should (FORECOURT_WORKERS) */
  workers: {
    /** How many processes serve. */
    serving: number
    /** How many processes should serve. */
    wanted: number
  }
}

export interface GetRegionQuery {
  /** The code of a region. */
  code: string
}

export interface GetRegionTreeQuery {
  /** The code of a region. */
  code?: string | undefined
  /** How many levels are answered: 1 to 3. */
  depth?: number | undefined
}

export interface GetRegionTreeResult {
  /** The rows, in order. */
  list: Array<{
    /** The code of a region. */
    code: string
    /** The name of the account, key, region or check. */
    name: string
    level: RegionLevel
    /** The regions directly below this one. */
    children: Array<{
      /** The code of a region. */
      code: string
      /** The name of the account, key, region or check. */
      name: string
      level: RegionLevel
      /** The regions directly below this one. */
      children: Array<{
        /** The code of a region. */
        code: string
        /** The name of the account, key, region or check. */
        name: string
        level: RegionLevel
        /** The regions directly below this one. */
        children: Array<unknown>
      }>
    }>
  }>
  /** The day up to which the built-in table has the ministry’s changes; operators can add later ones. */
  tableDate: string
}

export interface GetServiceDetailResult {
  /** the service’s version */
  version: string
  /** the runtime and its version, such as Bun 1.4.5 */
  runtime: string
  /** the version of PostgreSQL */
  databaseVersion: string
  /** whether the database is the service’s own */
  isEmbedded: boolean
  /** whether the database is spread over the nodes of a Citus cluster */
  isDistributed: boolean
  /** When the process that answers started. */
  startTime: string
  /** faults first */
  findings: Array<Finding>
  /** the size of the database, over all nodes; null while a node is away */
  databaseBytes: number | null
  /** its growth per day, over the last week; null in the first hours */
  bytesPerDay: number | null
  /** the largest first */
  tables: Array<TableSize>
  /** if the database grows as in the last week; null while the growth is not known */
  forecast: {
    /** the end of each of the next twelve months */
    months: Array<{
      time: string
      /** the size of the database then */
      bytes: number
    }>
    /** when the disk is full; null if the disk is large enough for the year */
    fullTime: string | null
  } | null
  /** the settings in force, without secrets; null for all but admins */
  settings: Array<SettingInForce> | null
}

export type GetSessionResult = Session & {
  /** The account: 1 made here, 2 made by single sign-on; null for a key. */
  source: 1 | 2 | null
  /** whether the person can come by single sign-on */
  isLinked: boolean
  /** whether the person has a password to change */
  hasPassword: boolean
}

export interface GetSettingsResult {
  /** The time zone in which times are shown and read. */
  timeZone: string
  /** the address of the map’s tiles, with {z}, {x} and {y}; null for none */
  mapTileUrl: string | null
  /** required: only serial numbers in the inventory can be created. */
  inventoryPolicy: 'open' | 'required'
  /** A device that sends no report for this long becomes offline. */
  presenceSeconds: number
  /** The coordinate system of all coordinates; nothing is converted. */
  coordinateSystem: 'gcj02' | 'wgs84' | 'bd09'
  /** allow: callbacks may be http and go to private addresses. */
  privateCallbacks: 'refuse' | 'allow'
}

export interface GetSignOnResult {
  /** whether there is single sign-on */
  enabled: boolean
  /** The text on its button. */
  name: string
  /** Who signs in by password. */
  passwords: 'everyone' | 'admins'
  /** whether passkeys work at this address */
  passkeys: boolean
}

export interface GetSitePricesQuery {
  /** The application’s id. A caller that is an application may leave out its own id; an operator must name an application. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
  /** The moment; now by default. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  time?: string | undefined
}

export interface GetSiteQuery {
  /** The application’s id. A caller that is an application may leave out its own id; an operator must name an application. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
}

export interface GetTemplateQuery {
  /** The kind of the file’s rows. */
  kind: ImportKind
}

export interface GetThirdPartyConfigQuery {
  /** The application’s id. A caller that is an application may leave out its own id; an operator must name an application. */
  appId?: string | undefined
}

/** At least one of the three. A field that is left out stays as each site has it, and null takes the rule away. */
export interface GivenRules {
  /** The id of the billing rule for fast charging, which has type 1. */
  fastChargeBillRuleId?: number | null | undefined
  /** The id of the billing rule for slow charging (“rushing”), which has type 2. */
  rushingBillRuleId?: number | null | undefined
  /** The id of the billing rule for occupancy (“placeholder”), which has type 3. */
  placeholderBillRuleId?: number | null | undefined
}

export interface HandOverOperatorKeyRequest {
  /** The id of the record. */
  id: number
  /** The account that is to own the key. */
  operatorId: number
}

export interface Import {
  /** The id of the record. */
  id: number
  /** the application of the rows; null for the inventory */
  appId: string | null
  kind: ImportKind
  /** The format of the file. */
  format: 'csv' | 'ndjson'
  /** What happens to a row that already exists with other content. */
  mode: 'create' | 'upsert'
  /** True: the rows are only checked, and nothing is written. */
  dryRun: boolean
  status: ImportStatus
  /** How many rows the file has. */
  rows: number
  /** Rows that were created. */
  created: number
  /** Rows that already existed with other content, and were updated. */
  updated: number
  /** Rows that already existed with the same content. */
  existing: number
  /** Rows that were refused. */
  refused: number
  /** The size of the file in bytes. */
  bytes: number
  /** How many bytes of the file have been processed. */
  bytesRead: number
  /** The columns of the file that were ignored: those of exports and of refused rows that an import cannot set, and those of `ignoreColumns`. */
  ignoredColumns: Array<string>
  /** Who acted: application:…, operator:… or operatorKey:…. */
  actor: string
  /** When the record was created. */
  createTime: string
  /** When the import ended; null before. */
  finishTime: string | null
  /** Why the import failed; null if it did not fail. */
  error: string | null
  /** `error` as data; null if the job did not fail. */
  failure: JobFailure | null
}

export interface ImportDeviceInventoryRequest {
  /** Serial numbers, each with its model. */
  entries: Array<{
    deviceNo: string
    /** The device’s model; null if unknown. */
    modelName: string
  }>
}

export interface ImportDeviceInventoryResult {
  /** How many serial numbers were new. */
  added: number
  /** How many serial numbers now have another model. */
  changed: number
}

/** The kind of the file’s rows. */
export type ImportKind = 'sites' | 'devices' | 'placements' | 'inventory'

export type ImportPage = Page & {
  /** The rows of this page. */
  list: Array<Import>
}

/** 1 waiting, 2 running, 3 done, 4 failed, 5 cancelled. */
export type ImportStatus = 1 | 2 | 3 | 4 | 5

export interface InventoryEntry {
  deviceNo: string
  /** The device’s model; null if unknown. */
  modelName: string
  /** When the record was created. */
  createTime: string
}

export type InventoryEntryPage = Page & {
  /** The rows of this page. */
  list: Array<InventoryEntry>
}

export interface IssueTokenRequest {
  /** Always client_credentials; required. */
  grant_type?: 'client_credentials' | undefined
  /** The appId, unless it is sent by HTTP Basic. */
  client_id?: string | null | undefined
  /** The appSecret, unless it is sent by HTTP Basic. */
  client_secret?: string | null | undefined
}

export interface IssueTokenResult {
  /** The token, to be sent as `Authorization: Bearer …`. */
  accessToken: string
  /** Always Bearer. */
  tokenType: 'Bearer'
  /** Seconds until the token ends. */
  expiresIn: number
}

export interface JobFailure {
  /** Why the job failed. */
  kind: 'accessLost' | 'rowsRefused' | 'attemptsFailed' | 'rowsLost'
  /** The line of the file, the serial number or the site at which it stopped; null before its first row. */
  place: string | null
  /** For accessLost: the code with which its sender would be refused. */
  code: number | null
  /** How many rows were refused or lost, or how many attempts failed. */
  count: number | null
  /** For attemptsFailed: the last error’s name and code. */
  cause: string | null
}

/** 1 entrance, 2 exit, 3 both, 4 door. */
export type LaneType = 1 | 2 | 3 | 4

export interface LogOutByProviderRequest {
  /** The logout token of the provider; required. */
  logout_token?: string | undefined
}

export type LogOutByProviderResult = Record<never, never>

export type LoggedType = EventType | 'application.created' | 'application.updated' | 'application.secretRotated' | 'application.previousSecretEnded' | 'deviceModel.saved' | 'deviceModel.deleted' | 'region.saved' | 'region.deleted' | 'deviceInventory.imported' | 'deviceInventory.deleted' | 'operator.created' | 'operator.updated' | 'operator.deleted' | 'operator.reset' | 'operator.setUp' | 'operator.passwordChanged' | 'operatorKey.created' | 'operatorKey.deleted' | 'operatorKey.handedOver' | 'view.handedOver' | 'session.created' | 'session.refused' | 'session.locked' | 'session.ended' | 'secondFactor.added' | 'secondFactor.removed' | 'secondFactor.reset' | 'secondFactor.recoveryCodeUsed' | 'secondFactor.suspected' | 'thirdPartyConfig.secretRotated' | 'delivery.replayed' | 'delivery.tested' | 'site.erased' | 'import.created' | 'import.cancelled' | 'act.created' | 'act.cancelled'

/** 1 online, 2 offline. */
export type OnlineStatus = 1 | 2

export interface Operator {
  /** The id of the record. */
  id: number
  /** The name of the account, key, region or check. */
  name: string
  /** What the operator may do. */
  role: Role
  /** 1 active, 2 disabled. */
  status: 1 | 2
  /** whether the person can sign in: false until the set-up link is used */
  isSetUp: boolean
  /** the applications of a developer; empty for the other roles */
  appIds: Array<string>
  /** When the record was created. */
  createTime: string
  /** When the person signed in last; null before. */
  signInTime: string | null
  /** 1 made here, 2 made by single sign-on. */
  source: 1 | 2
  /** whether the person can sign in by single sign-on */
  isLinked: boolean
  /** whether the account has a passkey or a code generator */
  hasSecondFactor: boolean
}

export interface OperatorKey {
  /** The id of the record. */
  id: number
  /** The name of the account, key, region or check. */
  name: string
  /** the key’s present role, which never exceeds its owner’s */
  role: string
  /** 1: the key works. 2: it does not, because it has expired, or its owner is disabled or a developer. */
  status: 1 | 2
  /** the account that owns the key; null if the key was made with the operator key of the service’s settings */
  operatorId: number | null
  /** The name of the account that owns the key. */
  operatorName: string | null
  /** Who created the key. */
  createdBy: string
  /** When the record was created. */
  createTime: string
  /** When the session or key ends. */
  expireTime: string
  /** When the key was last used, to about a minute; null before its first use. */
  lastUseTime: string | null
}

export type OperatorKeyPage = Page & {
  /** The rows of this page. */
  list: Array<OperatorKey>
}

export type OperatorPage = Page & {
  /** The rows of this page. */
  list: Array<Operator>
}

export type OperatorWithSetUp = Operator & {
  /** the path below the service’s address at which the person sets a password; shown once */
  setUpPath: string | null
  /** When the set-up link expires; null without a link. */
  setUpExpireTime: string | null
}

export interface Page {
  /** How many rows fit the filters, counted up to 10000. */
  total: number
  /** False when more than 10000 rows fit. */
  totalIsExact: boolean
  /** The page’s number; null for a page by cursor. */
  pageNo: number | null
  /** How many rows a page holds at most. */
  pageSize: number
  /** How many pages the counted rows fill. */
  pages: number
  /** The cursor of the next page; null on the last page. */
  nextCursor: string | null
}

export interface PageActsQuery {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** The kind of the rows. */
  kind?: ActKind | undefined
  /** 1 waiting, 2 running, 3 done, 4 failed, 5 cancelled. */
  status?: ActStatus | undefined
  /** Only rows from this moment on. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows up to this moment, including all of its second. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
}

export interface PageApplicationsQuery {
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** The member to sort by, over all applications alike; rows with the same value are sorted by their creation, in the same direction. Without it, the page has its own order. */
  sort?: 'createTime' | 'appId' | 'appName' | 'onlineStatus' | 'status' | undefined
  /** Only with `sort`: ascending, which is the default, or descending. */
  order?: 'asc' | 'desc' | undefined
  /** The application’s name, for people. */
  appName?: string | undefined
  /** 1 online, 2 offline. */
  onlineStatus?: 1 | 2 | undefined
  /** 1 normal, 2 frozen. */
  status?: 1 | 2 | undefined
}

export interface PageAuditQuery {
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** The id of the application. */
  appId?: string | undefined
  /** the whole name of an actor, or its beginning: operator:… or operatorKey:… */
  actor?: string | undefined
  /** The id of the account or key that acted. */
  actorId?: number | undefined
  /** One type of event or several, with commas between them; device.* means all types of that kind. */
  type?: string | undefined
  /** a serial number or an id */
  subject?: string | undefined
  /** Only events with a smaller id. */
  beforeId?: number | undefined
  /** Only rows from this moment on. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows up to this moment, including all of its second. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
}

export interface PageBillingRulesQuery {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** The member to sort by, over all applications alike; rows with the same value are sorted by their creation, in the same direction. Without it, the page has its own order. */
  sort?: 'createTime' | 'id' | 'ruleName' | 'ruleType' | undefined
  /** Only with `sort`: ascending, which is the default, or descending. */
  order?: 'asc' | 'desc' | undefined
  /** a part of the name, regardless of upper and lower case */
  ruleName?: string | undefined
  /** 1 fast charging, 2 slow charging, 3 occupancy. The type of a rule cannot be changed. */
  ruleType?: RuleType | undefined
  /** Only rows from this moment on. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows up to this moment, including all of its second. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
}

export interface PageDeliveriesQuery {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** 1 waiting for an attempt, 2 delivered, 3 dead. */
  status?: DeliveryStatus | undefined
  /** true: only deliveries of status 2; false: only those that wait or are dead. */
  isDelivered?: 'true' | 'false' | undefined
  /** One type of event or several, with commas between them; device.* means all types of that kind. */
  type?: string | undefined
  /** Only the delivery of this event. */
  eventId?: number | undefined
  /** Only rows from this moment on. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows up to this moment, including all of its second. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
}

export type PageDeliveriesResult = DeliveryPage & {
  /** How many events of the application wait and have no delivery yet, counted up to 10000; null for several applications. */
  waitingEvents: number | null
  /** the time of the oldest waiting event */
  waitingSince: string | null
  /** until when nothing is sent to the endpoint, because attempts have failed */
  heldUntil: string | null
  callbacks: CallbacksSwitch
  /** How many events were made while the callback was stopped (410), and have no delivery; of a page, those in its time. They are sent only by a replay. Counted among the first 2000 events of each of the newest stops; null for several applications. */
  missedEvents: number | null
  /** whether all events of these stops were looked at */
  missedIsExact: boolean
  /** the time of the oldest of these events */
  missedFrom: string | null
  /** the time of the newest of these events */
  missedTo: string | null
}

export interface PageDeviceInventoryQuery {
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** a part of the serial number, regardless of upper and lower case */
  deviceNo?: string | undefined
  /** The device’s model; null if unknown. */
  modelName?: string | undefined
}

export interface PageDeviceModelsQuery {
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** How the serial numbers of the model begin; the longest prefix that fits a serial number decides. */
  serialPrefix?: string | undefined
  /** The device’s model; null if unknown. */
  modelName?: string | undefined
}

export interface PageDevicesQuery {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** The member to sort by, over all applications alike; rows with the same value are sorted by their creation, in the same direction. Without it, the page has its own order. */
  sort?: 'createTime' | 'deviceNo' | 'deviceName' | 'modelName' | 'provinceCode' | 'cityCode' | 'districtCode' | 'status' | 'onlineStatus' | 'runStatus' | undefined
  /** Only with `sort`: ascending, which is the default, or descending. */
  order?: 'asc' | 'desc' | undefined
  /** a part of the serial number, regardless of upper and lower case */
  deviceNo?: string | undefined
  /** a part of the name, regardless of upper and lower case */
  deviceName?: string | undefined
  /** Free text for the integrator’s own use. */
  tag?: string | undefined
  /** The province’s code. */
  provinceCode?: string | undefined
  /** The city’s code. */
  cityCode?: string | undefined
  /** The district’s code. */
  districtCode?: string | undefined
  /** The device’s model; null if unknown. */
  modelName?: string | undefined
  /** 1 normal, 2 fault. */
  status?: DeviceStatus | undefined
  /** 1 online, 2 offline. */
  onlineStatus?: OnlineStatus | undefined
  /** 0 closed, 1 open, 2 stopped. */
  runStatus?: RunStatus | undefined
  /** Only devices that stand at this site. */
  siteId?: number | undefined
  /** true: only devices that stand at a site; false: only those that stand at no site. */
  isPlaced?: 'true' | 'false' | undefined
  /** Only rows from this moment on. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows up to this moment, including all of its second. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
  /** Only devices whose newest report is from this moment on. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  lastReportFrom?: string | undefined
  /** Only devices that have reported, the last time up to this moment, including all of its second. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  lastReportTo?: string | undefined
  /** true: only devices that have reported; false: only devices that never reported. */
  hasReported?: 'true' | 'false' | undefined
  /** A rectangle of the map: minLng,minLat,maxLng,maxLat in decimal degrees. No minimum is above its maximum, and the edges belong to it. */
  bbox?: string | undefined
}

export interface PageEventsQuery {
  /** The application’s id. A caller that is an application may leave out its own id; an operator must name an application. */
  appId?: string | undefined
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** Only events with a larger id, which are newer. */
  afterId?: number | undefined
  /** Only events with a smaller id. */
  beforeId?: number | undefined
  /** asc: oldest first (the default); desc: newest first. */
  order?: 'asc' | 'desc' | undefined
  /** One type of event or several, with commas between them; device.* means all types of that kind. */
  type?: string | undefined
  /** Only rows from this moment on. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows up to this moment, including all of its second. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
  /** The device’s serial number. */
  deviceNo?: string | undefined
  /** Only rows about this site. */
  siteId?: number | undefined
  /** Only rows about this billing rule. */
  billingRuleId?: number | undefined
}

export interface PageImportsQuery {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** The kind of the file’s rows. */
  kind?: ImportKind | undefined
  /** 1 waiting, 2 running, 3 done, 4 failed, 5 cancelled. */
  status?: ImportStatus | undefined
  /** Only rows from this moment on. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows up to this moment, including all of its second. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
}

export interface PageOperatorKeysQuery {
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** Only the keys of this account. */
  operatorId?: number | undefined
}

export interface PageOperatorsQuery {
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** The name of the account, key, region or check. */
  name?: string | undefined
  /** What the operator may do. */
  role?: Role | undefined
  /** 1 active, 2 disabled. */
  status?: 1 | 2 | undefined
  /** The id of the application. */
  appId?: string | undefined
}

export interface PageOwnOperatorKeysQuery {
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
}

export interface PagePlacementHistoryQuery {
  /** The application’s id. A caller that is an application may leave out its own id; an operator must name an application. */
  appId?: string | undefined
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** The device; instead of `siteId`. */
  deviceNo?: string | undefined
  /** The site; instead of `deviceNo`. */
  siteId?: number | undefined
}

export interface PagePlacementsQuery {
  /** The application’s id. A caller that is an application may leave out its own id; an operator must name an application. */
  appId?: string | undefined
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** Only rows about this site. */
  siteId?: number | undefined
  /** a part of the serial number, regardless of upper and lower case */
  deviceNo?: string | undefined
  /** Serial numbers, 1 to 100, with commas between them. One that holds a comma itself cannot be named here. */
  deviceNos?: string | undefined
  /** 1 entrance, 2 exit, 3 both, 4 door. */
  laneType?: LaneType | undefined
  /** 1 normal, 2 fault. */
  status?: DeviceStatus | undefined
  /** 1 online, 2 offline. */
  onlineStatus?: OnlineStatus | undefined
  /** 0 closed, 1 open, 2 stopped. */
  runStatus?: RunStatus | undefined
  /** The code of the site’s province. */
  provinceCode?: string | undefined
  /** The code of the site’s city. */
  cityCode?: string | undefined
  /** The code of the site’s district. */
  districtCode?: string | undefined
}

export interface PagePriceChangesQuery {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** 1 waiting, 2 in force or has been, 3 cancelled. */
  status?: PriceChangeStatus | undefined
  /** Only changes of this rule’s terms, or that give this rule to sites. */
  billingRuleId?: number | undefined
  /** Only changes of the rules of this site; a cancelled one is in none. */
  siteId?: number | undefined
  /** Only undos of these price changes: 1 to 100 ids, with commas between them. */
  undoOf?: string | undefined
  /** Only changes that take effect at this moment or later. */
  timeFrom?: string | undefined
  /** Only changes that take effect at this moment or earlier, including all of its second. */
  timeTo?: string | undefined
}

export interface PageRefusalsQuery {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** The member to sort by, over all applications alike; rows with the same value are sorted by their creation, in the same direction. Without it, the page has its own order. */
  sort?: 'time' | undefined
  /** Only with `sort`: ascending, which is the default, or descending. */
  order?: 'asc' | 'desc' | undefined
  /** Only rows from this moment on. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows up to this moment, including all of its second. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
  /** The code of a refusal. */
  code?: number | undefined
  /** the id of an operation */
  operation?: string | undefined
  /** a part of the serial number, regardless of upper and lower case */
  deviceNo?: string | undefined
  /** a whole serial number, the id of a site or a rule, or a new site’s name */
  subject?: string | undefined
  /** the `X-Request-Id` of an answer */
  requestId?: string | undefined
}

export interface PageRegionsQuery {
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** The beginning of the codes. */
  code?: string | undefined
  /** A part of the name, upper or lower case. */
  name?: string | undefined
}

export interface PageSessionsQuery {
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** Only the sessions of this account. */
  operatorId?: number | undefined
}

export interface PageSitesQuery {
  /** The application’s id. A caller that is an application may leave out its own id. If an operator leaves the id out, all applications are meant; if a developer does, those of which they are a member. */
  appId?: string | undefined
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
  /** The member to sort by, over all applications alike; rows with the same value are sorted by their creation, in the same direction. Without it, the page has its own order. */
  sort?: 'createTime' | 'id' | 'siteName' | 'provinceCode' | 'cityCode' | 'districtCode' | undefined
  /** Only with `sort`: ascending, which is the default, or descending. */
  order?: 'asc' | 'desc' | undefined
  /** a part of the name, regardless of upper and lower case */
  siteName?: string | undefined
  /** a part of the contact person’s name, regardless of upper and lower case */
  contacts?: string | undefined
  /** The province’s code. */
  provinceCode?: string | undefined
  /** The city’s code. */
  cityCode?: string | undefined
  /** The district’s code. */
  districtCode?: string | undefined
  /** Only rows about this billing rule. */
  billingRuleId?: number | undefined
  /** true: only sites at which a device stands; false: only those without one. */
  hasDevices?: 'true' | 'false' | undefined
  /** Only rows from this moment on. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows up to this moment, including all of its second. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
  /** A rectangle of the map: minLng,minLat,maxLng,maxLat in decimal degrees. No minimum is above its maximum, and the edges belong to it. */
  bbox?: string | undefined
}

export interface PageViewsQuery {
  /** The list of the console that it is a view of. */
  page?: 'applications' | 'sites' | 'devices' | 'billingRules' | 'priceChanges' | 'models' | 'inventory' | 'regions' | 'imports' | 'acts' | 'events' | 'audit' | 'deliveries' | 'refusals' | 'operators' | undefined
  /** The account; without it one’s own. */
  operatorId?: number | undefined
  /** The number of the page, from 1; by default the first page. `pageNo` × `pageSize` may be at most 100000; use a cursor to go further. */
  pageNo?: number | undefined
  /** The number of rows on a page; 10 by default. */
  pageSize?: number | undefined
  /** The `nextCursor` of the page before; send it with the same filters and without `pageNo`. Any depth costs the same, and no row that existed throughout is skipped. */
  cursor?: string | undefined
}

export interface Passkey {
  /** The id of the record. */
  id: number
  /** The name that its owner gave the passkey. */
  name: string
  /** When the record was created. */
  createTime: string
  /** When the key was last used, to about a minute; null before its first use. */
  lastUseTime: string | null
  /** whether the passkey is kept on several devices of its owner */
  isSynced: boolean
}

export interface Period {
  /** When the period begins; it lasts until the next period begins. */
  startTime: string
  /** The price of electricity, in yuan per kWh. */
  electricityPrice: string
  /** The price of the service, in yuan per kWh. */
  servicePrice: string
}

export type PlacedDevice = Placement & {
  /** The device’s name. */
  deviceName: string
  status: DeviceStatus
  onlineStatus: OnlineStatus
  runStatus: RunStatus
  /** What the device says about its status. */
  statusRemark: string | null
  /** When the device reported last. */
  lastReportTime: string | null
}

export type PlacedDevicePage = Page & {
  /** The rows of this page. */
  list: Array<PlacedDevice>
}

export interface Placement {
  deviceNo: string
  appId: string
  /** The id of the site at which the device stands. */
  siteId: number
  /** The site’s name; after the end, the name at that time. */
  siteName: string
  laneType: LaneType
  /** The name of the lane, as people on the spot call it. */
  laneName: string | null
  /** Since when the device has stood at the site; a change of the lane does not change this. */
  placedTime: string
  /** Who placed the device. */
  placedBy: string
  /** When the placement ended; null while it lasts. */
  removedTime: string | null
  /** Who ended the placement; null while it lasts. */
  removedBy: string | null
  /** Why the placement ended; null if no reason was given. */
  reason: string | null
}

export interface PlacementBatchRow {
  deviceNo: string
  /** The id of the site at which the device stands. */
  siteId: number
  laneType: LaneType
  /** The name of the lane, as people on the spot call it. */
  laneName?: string | null | undefined
}

export type PlacementCallback = Callback & {
  /** What happened. */
  type: 'device.placed' | 'device.unplaced'
  data: Placement
}

export interface PlacementDone {
  /** The value by which the row is known; null if the row has none. */
  deviceNo: string | null
  /** 0: the row was carried out. */
  code: 0
  /** For people: success, or why the row was refused. */
  msg: string
  /** The record, as the operation for a single row answers it. */
  data: Placement
}

export type PlacementEvent = EventHead & {
  /** What happened. */
  type: 'device.placed' | 'device.unplaced'
  /** The record, as the operations on such records answer it. */
  data: Placement
}

export interface PlacementOutcomes {
  /** One outcome for each row, in the order of the rows. */
  results: Array<PlacementDone | PlacementRefused>
}

export type PlacementPage = Page & {
  /** The rows of this page. */
  list: Array<Placement>
}

export interface PlacementRefused {
  /** The value by which the row is known; null if the row has none. */
  deviceNo: string | null
  /** The code of the refusal: why the row was refused. */
  code: RefusalCode
  /** For people: success, or why the row was refused. */
  msg: string
  /** The faulty members of the row; null if none is faulty. */
  data: FieldFaults | null
}

export interface PlacementSuggestion {
  deviceNo: string
  /** The device’s name. */
  deviceName: string
  /** The id of the site. */
  siteId: number
  /** The site’s name. */
  siteName: string
  /** The distance in meters, as the crow flies; null if the site has no coordinates. */
  distanceMeters: number | null
}

export interface PlacementSummary {
  /** The id of the site. */
  siteId: number
  /** How many devices stand at the site. */
  devices: number
  /** How many of them are online. */
  online: number
  /** How many of them are offline. */
  offline: number
  /** How many of them report a fault. */
  fault: number
  /** How many of them are open (`runStatus` 1). */
  open: number
  /** How many of them are closed (`runStatus` 0). */
  closed: number
  /** How many of them are stopped (`runStatus` 2). */
  stopped: number
  /** How many of them stand in an entrance, or in a lane for both. */
  entrances: number
  /** How many of them stand in an exit, or in a lane for both. */
  exits: number
  /** How many of the entrances are online. */
  entrancesOnline: number
  /** How many of the exits are online. */
  exitsOnline: number
}

export interface PlatformCounts {
  /** How many sites there are. */
  sites: number
  /** how many sites have no device, counted up to 100000 */
  sitesWithoutDevices: number
  /** how many devices are bound to an application */
  devices: number
  /** How many devices are online. */
  devicesOnline: number
  /** How many devices report a fault. */
  devicesFaulty: number
  /** How many applications there are. */
  applications: number
  /** How many applications are offline. */
  applicationsOffline: number
  /** How many applications are frozen. */
  applicationsFrozen: number
  /** how many deliveries wait for another attempt, counted up to 100000 */
  callbacksWaiting: number
  /** how many deliveries are dead, without tests, counted up to 100000 */
  callbacksDead: number
  /** how many applications have a callback that pauses after failures in a row */
  callbacksHeld: number
  /** how many events wait for the first attempt of their callback; at most 100000 are counted for callbacks that pause, and at most 100000 for the others */
  eventsWaiting: number
  /** how many applications have a callback that answered 410 */
  callbacksStopped: number
}

export interface PriceChange {
  /** The id of the record. */
  id: number
  appId: string
  status: PriceChangeStatus
  /** When it takes effect. */
  effectiveTime: string
  /** The instant of `effectiveTime` in RFC 3339. */
  effectiveAt: string
  /** the rule that gets new terms; null for other rules at sites */
  billingRuleId: number | null
  /** For types 1 and 2: the prices by the time of day, in ascending order, the first at 00:00:00. */
  periods: Array<Period> | null
  /** For type 3: how many minutes after charging cost nothing. */
  freeMinutes: number | null
  /** For type 3: each period of this many minutes costs `unitPrice` as soon as the period begins. */
  unitMinutes: number | null
  /** For type 3: the price of one unit, in yuan. */
  unitPrice: string | null
  /** For type 3: the most that a day can cost, in yuan; null for no limit. */
  dailyCap: string | null
  /** The rules that the sites get. */
  rules: GivenRules | null
  /** how many sites get other rules, without sites deleted since; of a cancelled one, its number when it was cancelled */
  siteCount: number | null
  /** of an undo: how many sites are not put back */
  skippedCount: number | null
  /** The reason, in words. */
  reason: string | null
  /** the price change that this one undoes */
  undoOf: number | null
  /** When the record was created. */
  createTime: string
  /** Who scheduled it. */
  createdBy: string
  /** when all rows and events of the price change had been written */
  appliedTime: string | null
  /** when it was cancelled */
  cancelTime: string | null
  /** who cancelled it */
  cancelledBy: string | null
}

export type PriceChangeCallback = Callback & {
  /** What happened. */
  type: 'priceChange.scheduled' | 'priceChange.cancelled' | 'priceChange.applied'
  data: PriceChange
}

export type PriceChangeEvent = EventHead & {
  /** What happened. */
  type: 'priceChange.scheduled' | 'priceChange.cancelled' | 'priceChange.applied'
  /** The record, as the operations on such records answer it. */
  data: PriceChange
}

export type PriceChangePage = Page & {
  /** The rows of this page. */
  list: Array<PriceChange>
}

/** 1 waiting, 2 in force or has been, 3 cancelled. */
export type PriceChangeStatus = 1 | 2 | 3

export interface PriceInForce {
  /** The rule that the site names at that time. */
  billingRuleId: number
  /** The rule’s present name; for a deleted rule, its last name. */
  ruleName: string
  /** For types 1 and 2: the prices by the time of day, in ascending order, the first at 00:00:00. */
  periods: Array<Period> | null
  /** The period of `periods` that covers that time of day. */
  period: Period | null
  /** For type 3: how many minutes after charging cost nothing. */
  freeMinutes: number | null
  /** For type 3: each period of this many minutes costs `unitPrice` as soon as the period begins. */
  unitMinutes: number | null
  /** For type 3: the price of one unit, in yuan. */
  unitPrice: string | null
  /** For type 3: the most that a day can cost, in yuan; null for no limit. */
  dailyCap: string | null
  /** Since when these terms hold at this site. */
  sinceTime: string
  /** The instant of `sinceTime` in RFC 3339. */
  sinceAt: string
  /** Until when these terms hold at this site; null if no price change is waiting. */
  untilTime: string | null
  /** The instant of `untilTime` in RFC 3339. */
  untilAt: string | null
  /** the price change that brought these terms; null if they came with the site or rule, or by an update */
  priceChangeId: number | null
}

/** The code of a refusal. */
export type RefusalCode = 10001 | 10002 | 10003 | 10004 | 10005 | 10006 | 10007 | 10008 | 10009 | 10030 | 10031 | 10032 | 10033 | 10034 | 10035 | 10040 | 10041 | 10042 | 10050 | 10051 | 10052 | 10053 | 10054 | 10055 | 10056 | 10057 | 10060 | 10061 | 10062 | 10063 | 10064 | 10065 | 10066 | 10070 | 10071 | 20002 | 20013 | 20014 | 20017 | 20021 | 20022 | 20030 | 30002 | 30003 | 40002 | 40003 | 40004 | 40005 | 40006 | 40007 | 49999 | 50003 | 60002 | 60003 | 70002 | 70003 | 70004

export interface RefusedWrite {
  time: string
  /** the `X-Request-Id` of the answer */
  requestId: string
  /** null for an operator’s write that names no application; only operators see such refusals */
  appId: string | null
  /** The id of the operation that was called. */
  operation: string
  /** The refusal’s code. */
  code: number
  /** the name of the refusal’s code */
  name: 'invalidRequest' | 'tokenInvalid' | 'notPermitted' | 'applicationNotFound' | 'applicationFrozen' | 'applicationOffline' | 'tooManyRequests' | 'idempotencyKeyReused' | 'preconditionFailed' | 'clientInvalid' | 'signInFailed' | 'secondFactorRequired' | 'codeInvalid' | 'secondFactorSetUpRequired' | 'confirmationRequired' | 'operatorNotFound' | 'operatorNameTaken' | 'setUpLinkInvalid' | 'sessionNotFound' | 'lastAdmin' | 'operatorKeyNotFound' | 'secondFactorNotFound' | 'lastSecondFactor' | 'signOnOff' | 'signOnFailed' | 'signOnRefused' | 'signOnUnavailable' | 'signOnLinked' | 'managedBySignOn' | 'passwordSignInOff' | 'viewNotFound' | 'viewNameTaken' | 'regionNotFound' | 'regionInUse' | 'callbackMissing' | 'deviceNotFound' | 'deviceBoundElsewhere' | 'deviceUnknown' | 'deviceAlreadyYours' | 'deviceModelNotFound' | 'inventoryEntryNotFound' | 'placementNotFound' | 'siteNotFound' | 'thirdPartyConfigMissing' | 'billingRuleNotFound' | 'billingRuleWrongType' | 'billingRuleInUse' | 'priceChangeNotFound' | 'priceChangeWrongState' | 'priceChangeClash' | 'eventNotFound' | 'deliveryNotFound' | 'importNotFound' | 'importRunning' | 'rowsChanged' | 'internalFault' | 'unavailable'
  /** Every faulty member, not only the first; at most 1000. */
  errors: Array<FieldFault> | null
  /** the record it was about: a serial number, the id of a site or a rule, or the name of a record to be created */
  subject: string | null
  /** who called: application:…, operator:… or operatorKey:… */
  actor: string
}

export type RefusedWritePage = Page & {
  /** The rows of this page. */
  list: Array<RefusedWrite>
}

export interface Region {
  /** The code of a region. */
  code: string
  /** The name of the account, key, region or check. */
  name: string
  level: RegionLevel
  /** The code of the region above; null for a province. */
  parentCode: string | null
  /** the names from the province down, as written in an address */
  fullName: string
}

/** 1 province, 2 city, 3 district. */
export type RegionLevel = 1 | 2 | 3

export interface RemovePlacementRequest {
  appId?: string | null | undefined
  deviceNo: string
  /** The reason, in words. */
  reason?: string | null | undefined
}

export interface RemovePlacementsRequest {
  appId?: string | null | undefined
  /** The serial numbers of the devices. */
  deviceNos: Array<string>
  /** The reason, in words. */
  reason?: string | null | undefined
}

export type RenewRecoveryCodesRequest = Record<never, never>

export interface RenewRecoveryCodesResult {
  /** Ten recovery codes, each of which works once; shown once, with the first factor. Null otherwise. */
  recoveryCodes: Array<string> | null
}

export interface ReplayDeliveriesRequest {
  appId?: string | null | undefined
  /** The id of the record. */
  id?: number | null | undefined
  /** Only rows from this moment on. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | null | undefined
  /** Only rows up to this moment, including all of its second. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | null | undefined
  /** 1 waiting for an attempt, 2 delivered, 3 dead. */
  status?: DeliveryStatus | null | undefined
  /** false: only events that were not delivered: those whose delivery waits or is dead, and those without one that were made while the callback was stopped. */
  isDelivered?: boolean | null | undefined
}

export interface ReplayDeliveriesResult {
  /** how many deliveries will be sent again */
  replayed: number
}

export type ReportDeviceStateRequest = StateReport & {
  appId?: string | null | undefined
}

export interface ReportDeviceStatesRequest {
  appId?: string | null | undefined
  /** reports, each as `reportDeviceState` takes it but without `appId` */
  reports: Array<StateReport>
}

export interface ResetOperatorRequest {
  /** The id of the record. */
  id: number
}

export interface ResetSecondFactorsRequest {
  /** The id of the record. */
  id: number
  /** The reason, in words. */
  reason: string
}

export interface RevokeTokenRequest {
  /** The access token to revoke; required. */
  token?: string | undefined
  /** The appId, unless it is sent by HTTP Basic. */
  client_id?: string | null | undefined
  /** The appSecret, unless it is sent by HTTP Basic. */
  client_secret?: string | null | undefined
}

export type RevokeTokenResult = Record<never, never>

/** admin: all; operator: all but people and keys; viewer: reads; developer: own applications only. */
export type Role = 'admin' | 'operator' | 'viewer' | 'developer'

export interface RotateApplicationSecretRequest {
  appId?: string | null | undefined
  /** How many seconds the old secret and its tokens keep working; 0 by default. */
  overlapSeconds?: number | null | undefined
}

export interface RotateCallbackSecretRequest {
  appId?: string | null | undefined
}

/** 1 fast charging, 2 slow charging, 3 occupancy. The type of a rule cannot be changed. */
export type RuleType = 1 | 2 | 3

/** 0 closed, 1 open, 2 stopped. */
export type RunStatus = 0 | 1 | 2

export interface SaveBillingRuleRequest {
  appId?: string | null | undefined
  /** The billing rule’s name. */
  ruleName: string
  ruleType: RuleType
  /** For types 1 and 2: the prices by the time of day, in ascending order, the first at 00:00:00. */
  periods?: Array<Period> | null | undefined
  /** For type 3: how many minutes after charging cost nothing. */
  freeMinutes?: number | null | undefined
  /** For type 3: each period of this many minutes costs `unitPrice` as soon as the period begins. */
  unitMinutes?: number | null | undefined
  /** For type 3: the price of one unit, in yuan. */
  unitPrice?: string | null | undefined
  /** For type 3: the most that a day can cost, in yuan; null for no limit. */
  dailyCap?: string | null | undefined
}

export interface SaveDeviceModelRequest {
  /** How the serial numbers of the model begin; the longest prefix that fits a serial number decides. */
  serialPrefix: string
  /** The device’s model; null if unknown. */
  modelName: string
  /** The address of a picture of the model. */
  productPictureUrl?: string | null | undefined
  /** The kind of device, taken from the device’s model. */
  deviceType?: string | null | undefined
  /** The name of the kind of device. */
  deviceTypeName?: string | null | undefined
}

export interface SavePasskeyRequest {
  /** The ticket of the options; it works once, for 5 minutes. */
  ticket: string
  /** The credential as JSON (`PublicKeyCredential.toJSON()`). */
  credential: Record<string, unknown>
  name: string
}

export type SavePlacementRequest = PlacementBatchRow & {
  appId?: string | null | undefined
}

export interface SavePlacementsRequest {
  appId?: string | null | undefined
  /** placements, each as `savePlacement` takes it but without `appId` */
  placements: Array<PlacementBatchRow>
}

export interface SaveRegionRequest {
  /** Six digits, as in GB/T 2260: provinces end in 0000, cities in 00. */
  code: string
  name: string
  /** The region above; if not given, the nearest one by code. Null for a province. */
  parentCode?: string | null | undefined
  /** true: the region has ended. It keeps its name, but the tree leaves it out. */
  isEnded?: boolean | null | undefined
}

export interface SaveSitesRequest {
  appId?: string | null | undefined
  /** sites, each as `saveSite` takes it but without `appId` */
  sites: Array<SiteBatchRow>
}

export interface SaveThirdPartyConfigRequest {
  appId?: string | null | undefined
  /** The company’s name. */
  operatorName: string
  /** The company’s id: 9 letters or digits. */
  operatorId?: string | null | undefined
  /** The address of the callback: https; http only if the settings allow it. The query is stored encrypted: the application and admins read it in full; other callers and events get `?…` in its place. Sent back with `?…`, the address keeps the stored query. */
  callbackUrl?: string | null | undefined
  /** The types of event that are sent. */
  callbackEvents?: Array<EventType> | null | undefined
}

export interface SaveTotpRequest {
  /** Six digits of the code generator, or a recovery code. */
  code: string
}

export interface SaveViewRequest {
  /** The view to change; without it the name decides. */
  id?: number | null | undefined
  /** The list of the console that it is a view of. */
  page: 'applications' | 'sites' | 'devices' | 'billingRules' | 'priceChanges' | 'models' | 'inventory' | 'regions' | 'imports' | 'acts' | 'events' | 'audit' | 'deliveries' | 'refusals' | 'operators'
  name: string
  /** Filters, order and page size, as in the address of the list. */
  query?: string | null | undefined
  /** The chosen columns, in the list’s own format. */
  columns?: string | null | undefined
}

export interface SavedRegion {
  /** The code of a region. */
  code: string
  /** The name of the account, key, region or check. */
  name: string
  /** The code of the region above; null for a province. */
  parentCode: string | null
  /** Whether the region has ended: its name is shown, but the tree leaves it out. */
  isEnded: boolean
  /** The name in the built-in table; null for a region that it does not have. */
  builtInName: string | null
  /** When the record was created. */
  createTime: string
}

export type SavedRegionPage = Page & {
  /** The rows of this page. */
  list: Array<SavedRegion>
}

export interface SchedulePriceChangeRequest {
  appId?: string | null | undefined
  /** When it takes effect: in whole seconds, later than now and at most 731 days ahead. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  effectiveTime: string
  /** The reason, in words. */
  reason?: string | null | undefined
  /** true: answers what would be scheduled, with `id` null, and writes nothing. */
  dryRun?: boolean | null | undefined
  /** The rule that gets new terms. */
  billingRuleId?: number | null | undefined
  /** For types 1 and 2: the prices by the time of day, in ascending order, the first at 00:00:00. */
  periods?: Array<Period> | null | undefined
  /** For type 3: how many minutes after charging cost nothing. */
  freeMinutes?: number | null | undefined
  /** For type 3: each period of this many minutes costs `unitPrice` as soon as the period begins. */
  unitMinutes?: number | null | undefined
  /** For type 3: the price of one unit, in yuan. */
  unitPrice?: string | null | undefined
  /** For type 3: the most that a day can cost, in yuan; null for no limit. */
  dailyCap?: string | null | undefined
  /** How many sites there are. */
  sites?: ChosenSites | null | undefined
  /** The rules that the sites get. */
  rules?: GivenRules | null | undefined
}

export interface ScheduledPriceChange {
  /** the id; null for a dry run */
  id: number | null
  appId: string
  status: PriceChangeStatus
  /** When it takes effect. */
  effectiveTime: string
  /** The instant of `effectiveTime` in RFC 3339. */
  effectiveAt: string
  /** the rule that gets new terms; null for other rules at sites */
  billingRuleId: number | null
  /** For types 1 and 2: the prices by the time of day, in ascending order, the first at 00:00:00. */
  periods: Array<Period> | null
  /** For type 3: how many minutes after charging cost nothing. */
  freeMinutes: number | null
  /** For type 3: each period of this many minutes costs `unitPrice` as soon as the period begins. */
  unitMinutes: number | null
  /** For type 3: the price of one unit, in yuan. */
  unitPrice: string | null
  /** For type 3: the most that a day can cost, in yuan; null for no limit. */
  dailyCap: string | null
  /** The rules that the sites get. */
  rules: GivenRules | null
  /** how many sites get other rules, without sites deleted since; of a cancelled one, its number when it was cancelled */
  siteCount: number | null
  /** of an undo: how many sites are not put back */
  skippedCount: number | null
  /** The reason, in words. */
  reason: string | null
  /** the price change that this one undoes */
  undoOf: number | null
  /** When the record was created. */
  createTime: string
  /** Who scheduled it. */
  createdBy: string
  /** when all rows and events of the price change had been written */
  appliedTime: string | null
  /** when it was cancelled */
  cancelTime: string | null
  /** who cancelled it */
  cancelledBy: string | null
}

export interface SearchQuery {
  /** What to look for. */
  text: string
}

export interface SearchResult {
  /** The records that were found, in the order of their kinds; within a kind, exact matches first. */
  list: Array<Found>
}

export interface SecondFactors {
  /** whether the role asks for a second factor */
  isRequired: boolean
  /** The code generator; null for none. */
  totp: {
    /** When the record was created. */
    createTime: string
    /** When the key was last used, to about a minute; null before its first use. */
    lastUseTime: string | null
  } | null
  /** The passkeys, oldest first. */
  passkeys: Array<Passkey>
  /** how many recovery codes have not been used */
  recoveryCodesLeft: number
}

export interface SecondFactorsWithCodes {
  /** whether the role asks for a second factor */
  isRequired: boolean
  /** The code generator; null for none. */
  totp: {
    /** When the record was created. */
    createTime: string
    /** When the key was last used, to about a minute; null before its first use. */
    lastUseTime: string | null
  } | null
  /** The passkeys, oldest first. */
  passkeys: Array<Passkey>
  /** how many recovery codes have not been used */
  recoveryCodesLeft: number
  /** Ten recovery codes, each of which works once; shown once, with the first factor. Null otherwise. */
  recoveryCodes: Array<string> | null
}

export interface Session {
  /** the id of the session; null for a caller with a bearer key, who has no session */
  id: number | null
  /** the id of the account; null for a key */
  operatorId: number | null
  /** The name of the account, key, region or check. */
  name: string
  /** What the operator may do. */
  role: string
  /** the applications of a developer; null for callers that may act for every application */
  appIds: Array<string> | null
  /** The browser that signed in. */
  userAgent: string | null
  /** the address that the sign-in came from */
  address: string | null
  /** When the record was created. */
  createTime: string | null
  /** When the session was used last. */
  seenTime: string | null
  /** When the session or key ends. */
  expireTime: string | null
  /** How the person signed in; null without a session. */
  method: 'password' | 'password+code' | 'passkey' | 'signOn' | 'signOn+code' | 'signOn+passkey' | 'operatorKey' | null
  /** whether the session lacks a second factor, which must be set up or shown before anything else */
  isLimited: boolean
  /** until when the last proof is valid for operations that need one; null for a bearer key, which needs none */
  confirmedUntil: string | null
}

export type SessionPage = Page & {
  /** The rows of this page. */
  list: Array<Session>
}

export interface SetUpOperatorRequest {
  /** The code at the end of the set-up link. */
  setUpToken: string
  /** The present password. */
  password: string
  /** The name of the account, key, region or check. */
  name?: string | null | undefined
  /** Six digits of the code generator, or a recovery code. */
  code?: string | null | undefined
}

export interface SettingInForce {
  /** the setting’s name */
  name: string
  /** the value, as it would be set; null if there is none, and for a secret */
  value: string | null
  /** whether its value is hidden from everybody */
  isSecret: boolean
  /** whether it differs from the default */
  isSet: boolean
}

export interface Site {
  /** The id of the record. */
  id: number
  appId: string
  /** The site’s name. */
  siteName: string
  /** Who is responsible for the site. */
  contacts: string
  /** The responsible person’s telephone. */
  contactsPhone: string
  /** The telephone that drivers call. */
  customerServicePhone: string
  /** The days on which the site is open, in words. */
  businessWeekDay: string
  /** When the site opens, HH:mm:ss. */
  businessStartTime: string
  /** When the site closes, HH:mm:ss or 24:00:00; a time before the opening time is past midnight. */
  businessClosingTime: string
  /** The addresses of pictures of the site, with commas between them. */
  sitePictureUrl: string | null
  /** The id of the billing rule for fast charging, which has type 1. */
  fastChargeBillRuleId: number | null
  /** The id of the billing rule for slow charging (“rushing”), which has type 2. */
  rushingBillRuleId: number | null
  /** The id of the billing rule for occupancy (“placeholder”), which has type 3. */
  placeholderBillRuleId: number | null
  /** The ids of the site’s network cameras (IPC), with commas between them. */
  ipcIds: string | null
  /** When the record was created. */
  createTime: string
  /** The province’s code. */
  provinceCode: string
  /** The province’s name. */
  provinceName: string
  /** The city’s code. */
  cityCode: string
  /** The city’s name. */
  cityName: string
  /** The district’s code. */
  districtCode: string
  /** The district’s name. */
  districtName: string
  /** The address below the district: street and number. */
  detailAddress: string | null
  /** The longitude in degrees. */
  longitude: number | null
  /** The latitude in degrees. */
  latitude: number | null
  /** `longitude,latitude`, as the caller sent it. */
  coordinates: string | null
}

export interface SiteBatchRow {
  /** The site’s name. */
  siteName: string
  /** Who is responsible for the site. */
  contacts: string
  /** The responsible person’s telephone. */
  contactsPhone: string
  /** The telephone that drivers call. */
  customerServicePhone: string
  /** The days on which the site is open, in words. */
  businessWeekDay: string
  /** When the site opens, HH:mm:ss. */
  businessStartTime: string
  /** When the site closes, HH:mm:ss or 24:00:00. A time before the opening time is past midnight. */
  businessClosingTime: string
  /** The addresses of pictures of the site, with commas between them. */
  sitePictureUrl?: string | null | undefined
  /** The id of the billing rule for fast charging, which has type 1. */
  fastChargeBillRuleId?: number | null | undefined
  /** The id of the billing rule for slow charging (“rushing”), which has type 2. */
  rushingBillRuleId?: number | null | undefined
  /** The id of the billing rule for occupancy (“placeholder”), which has type 3. */
  placeholderBillRuleId?: number | null | undefined
  /** The ids of the site’s network cameras (IPC), with commas between them. */
  ipcIds?: string | null | undefined
  /** The province’s code. */
  provinceCode: string
  /** The province’s name. */
  provinceName: string
  /** The city’s code. */
  cityCode: string
  /** The city’s name. */
  cityName: string
  /** The district’s code. */
  districtCode: string
  /** The district’s name. */
  districtName: string
  /** The address below the district: street and number. */
  detailAddress?: string | null | undefined
  /** `longitude,latitude`, as the caller sent it. */
  coordinates?: string | null | undefined
}

export type SiteCallback = Callback & {
  /** What happened. */
  type: 'site.created' | 'site.updated' | 'site.deleted'
  data: Site
}

export interface SiteChanges {
  /** The site’s name. */
  siteName?: string | undefined
  /** Who is responsible for the site. */
  contacts?: string | undefined
  /** The responsible person’s telephone. */
  contactsPhone?: string | undefined
  /** The telephone that drivers call. */
  customerServicePhone?: string | undefined
  /** The days on which the site is open, in words. */
  businessWeekDay?: string | undefined
  /** When the site opens, HH:mm:ss. */
  businessStartTime?: string | undefined
  /** When the site closes, HH:mm:ss or 24:00:00. A time before the opening time is past midnight. */
  businessClosingTime?: string | undefined
  /** The addresses of pictures of the site, with commas between them. */
  sitePictureUrl?: string | null | undefined
  /** The id of the billing rule for fast charging, which has type 1. */
  fastChargeBillRuleId?: number | null | undefined
  /** The id of the billing rule for slow charging (“rushing”), which has type 2. */
  rushingBillRuleId?: number | null | undefined
  /** The id of the billing rule for occupancy (“placeholder”), which has type 3. */
  placeholderBillRuleId?: number | null | undefined
  /** The ids of the site’s network cameras (IPC), with commas between them. */
  ipcIds?: string | null | undefined
  /** The province’s code. */
  provinceCode?: string | undefined
  /** The province’s name. */
  provinceName?: string | undefined
  /** The city’s code. */
  cityCode?: string | undefined
  /** The city’s name. */
  cityName?: string | undefined
  /** The district’s code. */
  districtCode?: string | undefined
  /** The district’s name. */
  districtName?: string | undefined
  /** The address below the district: street and number. */
  detailAddress?: string | null | undefined
  /** `longitude,latitude`, as the caller sent it. */
  coordinates?: string | null | undefined
}

export interface SiteDone {
  /** The value by which the row is known; null if the row has none. */
  siteName: string | null
  /** 0: the row was carried out. */
  code: 0
  /** For people: success, or why the row was refused. */
  msg: string
  /** The record, as the operation for a single row answers it. */
  data: Site
}

export type SiteEvent = EventHead & {
  /** What happened. */
  type: 'site.created' | 'site.updated' | 'site.deleted'
  /** The record, as the operations on such records answer it. */
  data: Site
}

export interface SiteOutcomes {
  /** One outcome for each row, in the order of the rows. */
  results: Array<SiteDone | SiteRefused>
}

export type SitePage = Page & {
  /** The rows of this page. */
  list: Array<Site>
}

export interface SitePrices {
  /** The site. */
  siteId: number
  appId: string
  /** The moment at which these rules are in force. */
  time: string
  /** The instant of `time` in RFC 3339. */
  at: string
  /** Fast charging; null for no rule. */
  fast: PriceInForce | null
  /** Slow charging; null for no rule. */
  slow: PriceInForce | null
  /** Occupancy; null for no rule. */
  occupancy: PriceInForce | null
}

export interface SiteRefused {
  /** The value by which the row is known; null if the row has none. */
  siteName: string | null
  /** The code of the refusal: why the row was refused. */
  code: RefusalCode
  /** For people: success, or why the row was refused. */
  msg: string
  /** The faulty members of the row; null if none is faulty. */
  data: FieldFaults | null
}

export type SiteRegistration = SiteBatchRow & {
  appId: string
}

export interface SiteUpdateDone {
  /** The value by which the row is known; null if the row has none. */
  id: number | null
  /** 0: the row was carried out. */
  code: 0
  /** For people: success, or why the row was refused. */
  msg: string
  /** The record, as the operation for a single row answers it. */
  data: Site
}

export interface SiteUpdateOutcomes {
  /** One outcome for each row, in the order of the rows. */
  results: Array<SiteUpdateDone | SiteUpdateRefused>
}

export interface SiteUpdateRefused {
  /** The value by which the row is known; null if the row has none. */
  id: number | null
  /** The code of the refusal: why the row was refused. */
  code: RefusalCode
  /** For people: success, or why the row was refused. */
  msg: string
  /** The faulty members of the row; null if none is faulty. */
  data: FieldFaults | null
}

export interface SiteUpdateRow {
  /** The id of the record. */
  id: number
  /** The site’s name. */
  siteName?: string | undefined
  /** Who is responsible for the site. */
  contacts?: string | undefined
  /** The responsible person’s telephone. */
  contactsPhone?: string | undefined
  /** The telephone that drivers call. */
  customerServicePhone?: string | undefined
  /** The days on which the site is open, in words. */
  businessWeekDay?: string | undefined
  /** When the site opens, HH:mm:ss. */
  businessStartTime?: string | undefined
  /** When the site closes, HH:mm:ss or 24:00:00. A time before the opening time is past midnight. */
  businessClosingTime?: string | undefined
  /** The addresses of pictures of the site, with commas between them. */
  sitePictureUrl?: string | null | undefined
  /** The id of the billing rule for fast charging, which has type 1. */
  fastChargeBillRuleId?: number | null | undefined
  /** The id of the billing rule for slow charging (“rushing”), which has type 2. */
  rushingBillRuleId?: number | null | undefined
  /** The id of the billing rule for occupancy (“placeholder”), which has type 3. */
  placeholderBillRuleId?: number | null | undefined
  /** The ids of the site’s network cameras (IPC), with commas between them. */
  ipcIds?: string | null | undefined
  /** The province’s code. */
  provinceCode?: string | undefined
  /** The province’s name. */
  provinceName?: string | undefined
  /** The city’s code. */
  cityCode?: string | undefined
  /** The city’s name. */
  cityName?: string | undefined
  /** The district’s code. */
  districtCode?: string | undefined
  /** The district’s name. */
  districtName?: string | undefined
  /** The address below the district: street and number. */
  detailAddress?: string | null | undefined
  /** `longitude,latitude`, as the caller sent it. */
  coordinates?: string | null | undefined
}

export type StartPasskeyRequest = Record<never, never>

export interface StartPasskeyResult {
  /** The options for `navigator.credentials.create`, as JSON. */
  options: Record<string, unknown>
  /** The ticket of the options; it works once, for 5 minutes. */
  ticket: string
}

export type StartPasskeySessionRequest = Record<never, never>

export interface StartPasskeySessionResult {
  /** The options for `navigator.credentials.get`, as JSON. */
  options: Record<string, unknown>
  /** The ticket of the options; it works once, for 5 minutes. */
  ticket: string
}

export interface StartSignOnRequest {
  /** What the sign-on is for. */
  purpose: 'signIn' | 'setUp' | 'link' | 'confirm'
  /** The code at the end of the set-up link. */
  setUpToken?: string | null | undefined
  /** The path of the console to which the browser returns. */
  returnTo?: string | null | undefined
}

export interface StartSignOnResult {
  /** The address at the provider. */
  authorizationUrl: string
}

export type StartTotpRequest = Record<never, never>

export interface StartTotpResult {
  /** The secret in base32; shown once. */
  secret: string
  /** The same for a QR code. */
  otpauthUrl: string
}

export interface StateReport {
  deviceNo: string
  /** When the device was in this state: RFC 3339, at most 60 seconds ahead. A report older than the newest known one changes nothing; a report without this time counts as the newest. */
  reportTime?: string | null | undefined
  /** 1 normal, 2 fault. */
  status?: DeviceStatus | null | undefined
  /** 1 online, 2 offline. */
  onlineStatus?: OnlineStatus | null | undefined
  /** 0 closed, 1 open, 2 stopped. */
  runStatus?: RunStatus | null | undefined
  /** What the device says about its status. */
  statusRemark?: string | null | undefined
  /** The version of the device’s firmware. */
  version?: string | null | undefined
  /** The battery’s status, as the device numbers it. */
  batteryStatus?: number | null | undefined
  /** the battery’s charge, as a percentage, for example 87% */
  batteryEnergy?: string | null | undefined
}

export interface StreamEventsQuery {
  /** The application’s id. A caller that is an application may leave out its own id; an operator must name an application. */
  appId?: string | undefined
  /** One type of event or several, with commas between them; device.* means all types of that kind. */
  type?: string | undefined
  /** The device’s serial number. */
  deviceNo?: string | undefined
  /** Only rows about this site. */
  siteId?: number | undefined
  /** Only events with a larger id, which are newer. */
  afterId?: number | undefined
}

export interface SuggestPlacementsQuery {
  /** The application’s id. A caller that is an application may leave out its own id; an operator must name an application. */
  appId?: string | undefined
  /** The site; instead of `deviceNo`. */
  siteId?: number | undefined
  /** The device; instead of `siteId`. */
  deviceNo?: string | undefined
  /** How far away the device may lie from the site, in meters; 500 by default. */
  meters?: number | undefined
}

export interface SuggestPlacementsResult {
  /** The rows, in order. */
  list: Array<PlacementSuggestion>
}

export interface SummarizePlacementsQuery {
  /** The application’s id. A caller that is an application may leave out its own id; an operator must name an application. */
  appId?: string | undefined
  /** The ids of 1 to 100 sites, with commas between them. */
  siteIds: string
}

export interface SummarizePlacementsResult {
  /** The rows, in order. */
  list: Array<PlacementSummary>
}

export interface TableSize {
  /** the table’s name */
  name: string
  /** an estimate; null where the database has none yet */
  rows: number | null
  /** its size with its indexes, over all nodes */
  bytes: number
  /** after how many days its rows are removed; null for never */
  keptDays: number | null
  /** the name of the setting for these days; null if they cannot be set */
  setting: string | null
}

export interface TakeApplicationOfflineRequest {
  appId: string
}

export interface TakeApplicationOnlineRequest {
  appId: string
}

export type TestCallback = Callback & {
  /** What happened. */
  type: 'test'
  data: {
    /** A sentence which says that this is a test. */
    message: string
  }
}

export interface TestDeliveryRequest {
  appId?: string | null | undefined
}

export interface ThirdPartyConfig {
  appId: string
  /** The company’s name. */
  operatorName: string
  /** The company’s id: 9 letters or digits. */
  operatorId: string | null
  /** the address of the callback; its query is shown in full, or as `?…` to callers that may not read it */
  callbackUrl: string | null
  /** The types of event that are sent. */
  callbackEvents: Array<EventType>
  /** shown once, when the secret is created or rotated; null from then on */
  callbackSecret: string | null
  /** when the receiver answered 410 and callbacks stopped; saving the configuration starts them again */
  callbackStopTime: string | null
  /** Why no callbacks are sent any more. */
  callbackStopReason: string | null
  updateTime: string
}

export type ThirdPartyConfigCallback = Callback & {
  /** What happened. */
  type: 'thirdPartyConfig.saved'
  data: ThirdPartyConfig
}

export type ThirdPartyConfigEvent = EventHead & {
  /** What happened. */
  type: 'thirdPartyConfig.saved'
  /** The record, as the operations on such records answer it. */
  data: ThirdPartyConfig
}

export interface TransferDeviceRequest {
  deviceNo: string
  /** The application that gets the device. */
  targetAppId: string
  /** The reason, in words. */
  reason: string
}

export interface TransferDevicesRequest {
  /** The serial numbers of the devices. */
  deviceNos: Array<string>
  /** The application that gets the device. */
  targetAppId: string
  /** The reason, in words. */
  reason: string
}

export type TransferredDevice = UnownedDevice & {
  /** The id of the application. */
  appId: string | null
}

export type TransferredDeviceCallback = Callback & {
  /** What happened. */
  type: 'device.transferred'
  data: TransferredDevice
}

export type TransferredDeviceEvent = EventHead & {
  /** What happened. */
  type: 'device.transferred'
  /** The record, as the operations on such records answer it. */
  data: TransferredDevice
}

export interface Trouble {
  appId: string
  /** The application’s name, for people. */
  appName: string
  /** How many devices report a fault. */
  devicesFaulty: number
  /** How many deliveries were given up. */
  callbacksDead: number
  /** Whether the application’s callback answered 410. */
  isCallbackStopped: boolean
  /** since when every attempt to reach the application’s callback has failed; null after fewer than 3 failures in a row, and while the callback is stopped */
  callbackFailingSince: string | null
  /** why the newest attempt failed */
  callbackFailingReason: string | null
}

export interface UnbindDeviceRequest {
  appId?: string | null | undefined
  deviceNo: string
  /** The reason, in words. */
  reason?: string | null | undefined
}

export interface UnbindDevicesRequest {
  appId?: string | null | undefined
  /** The serial numbers of the devices. */
  deviceNos: Array<string>
  /** The reason, in words. */
  reason?: string | null | undefined
}

export interface UndoPriceChangeRequest {
  appId?: string | null | undefined
  /** The id of the record. */
  id: number
  /** The reason, in words. */
  reason: string
}

export interface UnfreezeApplicationRequest {
  appId: string
}

export interface UnlinkSignOnRequest {
  /** The id of the record. */
  id?: number | null | undefined
}

export interface UnownedDevice {
  deviceNo: string
  /** Free text for the integrator’s own use. */
  tag: string | null
  /** The device’s name. */
  deviceName: string
  /** The device’s model; null if unknown. */
  modelName: string | null
  /** The address of a picture of the model. */
  productPictureUrl: string | null
  /** The kind of device, taken from the device’s model. */
  deviceType: string | null
  /** The name of the kind of device. */
  deviceTypeName: string | null
  status: DeviceStatus
  onlineStatus: OnlineStatus
  /** What the device says about its status. */
  statusRemark: string | null
  runStatus: RunStatus
  /** The version of the device’s firmware. */
  version: string | null
  /** Always 1. */
  deviceNumber: number
  deviceBattery: DeviceAddress
  /** The device’s battery. */
  DeviceBatteryOutput: DeviceBattery
  /** When the record was created. */
  createTime: string
}

export interface UpdateApplicationRequest {
  appId: string
  /** The application’s name, for people. */
  appName?: string | undefined
  /** How many seconds an access token lives; 7200 by default. */
  tokenLifetimeSeconds?: number | null | undefined
  /** how many requests the application may make per second, over all processes of a machine; default 1000, null for no limit */
  rateLimitPerSecond?: number | null | undefined
}

export interface UpdateBillingRuleRequest {
  appId?: string | null | undefined
  /** The id of the record. */
  id: number
  /** The billing rule’s name. */
  ruleName?: string | undefined
  ruleType?: RuleType | undefined
  /** For types 1 and 2: the prices by the time of day, in ascending order, the first at 00:00:00. */
  periods?: Array<Period> | null | undefined
  /** For type 3: how many minutes after charging cost nothing. */
  freeMinutes?: number | null | undefined
  /** For type 3: each period of this many minutes costs `unitPrice` as soon as the period begins. */
  unitMinutes?: number | null | undefined
  /** For type 3: the price of one unit, in yuan. */
  unitPrice?: string | null | undefined
  /** For type 3: the most that a day can cost, in yuan; null for no limit. */
  dailyCap?: string | null | undefined
}

export type UpdateDeviceRequest = DeviceUpdateRow & {
  appId?: string | null | undefined
}

export interface UpdateDevicesRequest {
  appId?: string | null | undefined
  /** devices, each as `updateDevice` takes it but without `appId` */
  devices: Array<DeviceUpdateRow>
}

export interface UpdateOperatorRequest {
  /** The id of the record. */
  id: number
  /** The name of the account, key, region or check. */
  name?: string | undefined
  role?: Role | undefined
  /** 1 active, 2 disabled. */
  status?: 1 | 2 | undefined
  /** the applications that a developer is a member of */
  appIds?: Array<string> | null | undefined
  /** Who takes over the keys and saved views of an account that ends: another, active account, and no developer if there are keys. */
  handOverTo?: number | null | undefined
}

export type UpdateSiteRequest = SiteUpdateRow & {
  appId?: string | null | undefined
}

export interface UpdateSitesRequest {
  appId?: string | null | undefined
  /** sites, each as `updateSite` takes it but without `appId` */
  sites: Array<SiteUpdateRow>
}

export interface View {
  /** The id of the record. */
  id: number
  /** The list of the console that it is a view of. */
  page: 'applications' | 'sites' | 'devices' | 'billingRules' | 'priceChanges' | 'models' | 'inventory' | 'regions' | 'imports' | 'acts' | 'events' | 'audit' | 'deliveries' | 'refusals' | 'operators'
  /** The name that its owner gave the view. */
  name: string
  /** Filters, order and page size, as in the address of the list. */
  query: string | null
  /** The chosen columns, in the list’s own format. */
  columns: string | null
  /** When the record was created. */
  createTime: string
}

export type ViewPage = Page & {
  /** The rows of this page. */
  list: Array<View>
}

/** What an application’s callback is told: the record, as its operation answers it. */
export type CallbackEvent = SiteCallback | DeviceCallback | TransferredDeviceCallback | DeviceStateChangeCallback | PlacementCallback | BillingRuleCallback | PriceChangeCallback | ApplicationCallback | ThirdPartyConfigCallback | TestCallback

/** One method for each operation. */
export interface Methods {
  /** Issues an access token by OAuth 2.0 client credentials (RFC 6749 §4.4). The body is JSON or a form; the credentials are in the body or in HTTP Basic. */
  issueToken: Method<IssueTokenRequest, IssueTokenResult>
  /** Revokes an access token of the client (RFC 7009); it stops working within 1 second. */
  revokeToken: Method<RevokeTokenRequest, RevokeTokenResult>
  /** Answers where and how tokens are obtained (RFC 8414). */
  getAuthorizationServer: Method<Record<never, never>, GetAuthorizationServerResult>
  /** Creates a charging site under an application; each call creates another site. The application’s third-party configuration must have been made. */
  saveSite: Method<SiteRegistration, Site>
  /** Creates up to 1000 sites. Answers one outcome for each row, in order; a refused row does not stop the others. */
  saveSites: Method<SaveSitesRequest, SiteOutcomes>
  /** Changes the given members of a site; null clears an optional member. */
  updateSite: Method<UpdateSiteRequest, Site>
  /** Changes up to 1000 sites. Answers one outcome for each row, in order; a refused row does not stop the others. */
  updateSites: Method<UpdateSitesRequest, SiteUpdateOutcomes>
  /** Deletes a site and answers its last record. */
  deleteSite: Method<DeleteSiteRequest, Site>
  /** Answers one site. */
  getSite: Method<GetSiteQuery, Site>
  /** Pages through an application’s sites, newest first; those of several applications are in order of `appId` first, unless `sort` says otherwise. */
  pageSites: PageMethod<PageSitesQuery, SitePage>
  /** Answers the billing rule and its terms for each kind of use of a site, as they were, are or will be in force at a moment, exact to the second. For a moment in the future, waiting price changes are included. */
  getSitePrices: Method<GetSitePricesQuery, SitePrices>
  /** Creates a billing rule. Types 1 and 2 take periods; type 3 takes minutes and prices. */
  saveBillingRule: Method<SaveBillingRuleRequest, BillingRule>
  /** Changes the given members of a billing rule; null clears a member. The type cannot be changed. */
  updateBillingRule: Method<UpdateBillingRuleRequest, BillingRule>
  /** Deletes a billing rule that no site names and no waiting price change gives to sites, and answers its last record. */
  deleteBillingRule: Method<DeleteBillingRuleRequest, BillingRule>
  /** Answers one billing rule. */
  getBillingRule: Method<GetBillingRuleQuery, BillingRule>
  /** Pages through an application’s billing rules, newest first; those of several applications are in order of `appId` first, unless `sort` says otherwise. */
  pageBillingRules: PageMethod<PageBillingRulesQuery, BillingRulePage>
  /** Schedules new terms of a billing rule (`billingRuleId` and the rule’s whole terms), or other rules at sites (`sites` and `rules`), from a moment on. Which terms are in force follows from the time alone. */
  schedulePriceChange: Method<SchedulePriceChangeRequest, ScheduledPriceChange>
  /** Cancels a price change that waits: it never takes effect. Refused once its moment has come. */
  cancelPriceChange: Method<CancelPriceChangeRequest, PriceChange>
  /** Undoes a price change that is in force, at once, by another price change (`undoOf`). It restores the former terms of the rule, if its present terms are those of the price change; or the former rules of each site that still has the rules of the price change. */
  undoPriceChange: Method<UndoPriceChangeRequest, PriceChange>
  /** Answers one price change. */
  getPriceChange: Method<GetPriceChangeQuery, PriceChange>
  /** Pages through an application’s price changes, latest `effectiveTime` first; those of several applications are sorted by `appId` first. */
  pagePriceChanges: PageMethod<PagePriceChangesQuery, PriceChangePage>
  /** Creates or replaces the third-party configuration of an application. */
  saveThirdPartyConfig: Method<SaveThirdPartyConfigRequest, ThirdPartyConfig>
  /** Answers the third-party configuration of an application. */
  getThirdPartyConfig: Method<GetThirdPartyConfigQuery, ThirdPartyConfig>
  /** Replaces the callback secret and shows the new secret once; for 24 hours callbacks are signed with both secrets. */
  rotateCallbackSecret: Method<RotateCallbackSecretRequest, ThirdPartyConfig>
  /** Registers an entrance device by its serial number and binds it to an application. The province is 360000 and the city 360100 by default. */
  createDevice: Method<DeviceRegistration, Device>
  /** Registers up to 1000 devices. Answers one outcome for each row, in order; a refused row does not stop the others. */
  createDevices: Method<CreateDevicesRequest, DeviceOutcomes>
  /** Changes the given members of a device; null clears an optional member, or restores its default. */
  updateDevice: Method<UpdateDeviceRequest, Device>
  /** Changes up to 1000 devices. Answers one outcome for each row, in order; a refused row does not stop the others. */
  updateDevices: Method<UpdateDevicesRequest, DeviceOutcomes>
  /** Answers one device. The state that the device reports does not change the `ETag`. */
  getDevice: Method<GetDeviceQuery, Device>
  /** Pages through an application’s devices, newest first; those of several applications are in order of `appId` first, unless `sort` says otherwise. */
  pageDevices: PageMethod<PageDevicesQuery, DevicePage>
  /** Reports the given members of a device’s state; null clears the remark, the version and the battery’s members. Any report, even one without members, is a sign of life: the device becomes online, unless the report says that it is offline. */
  reportDeviceState: Method<ReportDeviceStateRequest, Device>
  /** Reports the states of up to 1000 devices. Answers one outcome for each report, in order; a refused report does not stop the others. */
  reportDeviceStates: Method<ReportDeviceStatesRequest, DeviceOutcomes>
  /** Answers the state that a device reported, and when it reported last; with `deviceNos` instead of `deviceNo`, the states of up to 100 devices. */
  getDeviceState: Method<GetDeviceStateQuery & { deviceNo: string }, DeviceState> & Method<GetDeviceStateQuery & { deviceNos: string }, DeviceStates>
  /** Frees a serial number immediately; any application can then bind it. The past owner stays in the history. Answers the device’s last record. */
  unbindDevice: Method<UnbindDeviceRequest, Device>
  /** Frees up to 1000 serial numbers. Answers one outcome for each serial number, in order; a refusal does not stop the others. */
  unbindDevices: Method<UnbindDevicesRequest, DeviceOutcomes>
  /** Answers who held a serial number and when, newest first; an application sees its own bindings only. */
  getDeviceHistory: Method<GetDeviceHistoryQuery, GetDeviceHistoryResult>
  /** Frees a serial number of any application. */
  forceUnbindDevice: Method<ForceUnbindDeviceRequest, Device>
  /** In one transaction, moves a device with all of its data to another application, which must be online. */
  transferDevice: Method<TransferDeviceRequest, Device>
  /** Moves up to 1000 devices to another application. Answers one outcome for each device, in order; a refused device does not stop the others. */
  transferDevices: Method<TransferDevicesRequest, DeviceOutcomes>
  /** Places a device at a site, in a lane. A device stands at one site at most: placing it at another site moves it there. Repeating a placement changes nothing. */
  savePlacement: Method<SavePlacementRequest, Placement>
  /** Places up to 1000 devices. Answers one outcome for each row, in order; a refused row does not stop the others. */
  savePlacements: Method<SavePlacementsRequest, PlacementOutcomes>
  /** Ends the placement of a device, and answers the placement as it ended. */
  removePlacement: Method<RemovePlacementRequest, Placement>
  /** Ends the placements of up to 1000 devices. Answers one outcome for each serial number, in order; a refusal does not stop the others. */
  removePlacements: Method<RemovePlacementsRequest, PlacementOutcomes>
  /** Answers at which site a device stands. */
  getPlacement: Method<GetPlacementQuery, Placement>
  /** Pages through the current placements, newest first, each with the present state of its device. */
  pagePlacements: PageMethod<PagePlacementsQuery, PlacedDevicePage>
  /** Pages through the placements of one device or at one site, ended and current ones, newest first. */
  pagePlacementHistory: PageMethod<PagePlacementHistoryQuery, PlacementPage>
  /** Counts the devices of up to 100 sites by their state and lane, in the order of the ids. */
  summarizePlacements: Method<SummarizePlacementsQuery, SummarizePlacementsResult>
  /** Suggests the devices near a site that stand at no site, or the sites near a device; the nearest 100, nearest first. A site without coordinates is suggested by its district. The operation places nothing. */
  suggestPlacements: Method<SuggestPlacementsQuery, SuggestPlacementsResult>
  /** The feed of an application’s events, oldest first. Ask again with the last event’s id as `afterId` to get newer events. */
  pageEvents: PageMethod<PageEventsQuery, EventPage> & Followed<StreamEventsQuery, Event>
  /** Streams an application’s events as server-sent events, in the order of `pageEvents`. Begins after `Last-Event-ID`, else after `afterId`, else after the newest event. */
  streamEvents: ExportMethod<StreamEventsQuery>
  /** Answers one event of an application. */
  getEvent: Method<GetEventQuery, Event>
  /** Pages through what operators and their keys did, in all applications, the price changes that took effect, and what happened on the platform itself, newest first. */
  pageAudit: PageMethod<PageAuditQuery, AuditEntryPage>
  /** Pages through the deliveries of an application’s events to its callback, newest event first; those of several applications are sorted by `appId` first. */
  pageDeliveries: PageMethod<PageDeliveriesQuery, PageDeliveriesResult>
  /** Answers one delivery of an application. */
  getDelivery: Method<GetDeliveryQuery, Delivery>
  /** Sends one delivery again, or every event of a time range that the callback asks for. One replay of an application runs at a time. */
  replayDeliveries: Method<ReplayDeliveriesRequest, ReplayDeliveriesResult>
  /** Sends a test event to the callback, once, and answers the outcome. */
  testDelivery: Method<TestDeliveryRequest, Delivery>
  /** Answers the health of an application’s callback: its state, the share of attempts that failed, what waits, and the causes of failed deliveries. */
  getCallbackHealth: Method<GetCallbackHealthQuery, CallbackHealth>
  /** Pages through refused writes, including refused rows of batches, newest first; those of several applications are sorted by `appId` first, unless `sort` says otherwise. The newest 1000 refusals of each application are kept, at most 300 a minute. */
  pageRefusals: PageMethod<PageRefusalsQuery, RefusedWritePage>
  /** Accepts a file of rows, up to 1 GB, and imports it in the background, one file of an application at a time. A row that exists already with the same content counts as `existing`, so a file can be sent twice. */
  createImport: FileMethod<CreateImportQuery, Import>
  /** Answers one import and its progress. */
  getImport: Method<GetImportQuery, Import>
  /** Pages through the imports of the last 7 days, newest first. */
  pageImports: PageMethod<PageImportsQuery, ImportPage>
  /** Cancels an import that waits or runs; rows that it has written stay. */
  cancelImport: Method<CancelImportRequest, Import>
  /** Answers one line of NDJSON for each row that has an outcome: `line`, `outcome`, `code`, `msg`, `errors`, and the `deviceNo` or the site’s `id`. */
  getImportResult: ExportMethod<GetImportResultQuery>
  /** Answers all rows of one kind as a file; takes the filters of that kind’s page operation. In CSV a quote is put before text that a spreadsheet would take for a formula. GeoJSON, of sites and devices, is in WGS 84. */
  createExport: ExportMethod<CreateExportQuery>
  /** Answers an empty CSV file with the columns of an import. */
  getTemplate: ExportMethod<GetTemplateQuery>
  /** Carries out an operation on every device or site that matches, in the background: on the rows that exist when this is answered and that still match when the act reaches them. Each row writes the event of the single operation. One import or act of an application at a time. */
  createAct: Method<CreateActRequest, BegunAct>
  /** Answers one act and its progress. */
  getAct: Method<GetActQuery, Act>
  /** Pages through the acts of the last 7 days, newest first. */
  pageActs: PageMethod<PageActsQuery, ActPage>
  /** Cancels an act that waits or runs; rows that it has changed stay so. */
  cancelAct: Method<CancelActRequest, Act>
  /** Answers one line of NDJSON for each row that has an outcome: `outcome`, `code`, `msg`, `errors`, and the `deviceNo` or the site’s `id`. */
  getActResult: ExportMethod<GetActResultQuery>
  /** Returns the regions as a tree: all of them or those below `code`, in all levels or in `depth` levels. Regions that have ended are not in it. */
  getRegionTree: Method<GetRegionTreeQuery, GetRegionTreeResult>
  /** Returns one region, also one that has ended. */
  getRegion: Method<GetRegionQuery, Region>
  /** Creates or replaces a region that the built-in table lacks or names otherwise. It counts in every record that shows the name of its code. */
  saveRegion: Method<SaveRegionRequest, SavedRegion>
  /** Deletes a saved region: the built-in table applies to its code again. */
  deleteRegion: Method<DeleteRegionRequest, SavedRegion>
  /** Lists the saved regions by code. */
  pageRegions: PageMethod<PageRegionsQuery, SavedRegionPage>
  /** Creates an application, online and normal, and shows its secret once. */
  createApplication: Method<CreateApplicationRequest, CreateApplicationResult>
  /** Changes the given members of an application. */
  updateApplication: Method<UpdateApplicationRequest, Application>
  /** Takes an application online. */
  takeApplicationOnline: Method<TakeApplicationOnlineRequest, Application>
  /** Takes an application offline. Once this operation has answered, no device of the application is created. */
  takeApplicationOffline: Method<TakeApplicationOfflineRequest, Application>
  /** Freezes an application: its tokens stop working within 1 second. */
  freezeApplication: Method<FreezeApplicationRequest, Application>
  /** Lifts a freeze. */
  unfreezeApplication: Method<UnfreezeApplicationRequest, Application>
  /** Replaces the application’s secret and shows the new secret once. The old secret and its tokens stop working within 1 second, or after `overlapSeconds`; a still older secret ends immediately. An application that rotates its own secret should name `overlapSeconds`: otherwise the token of the request ends too, and a lost answer cannot be fetched again. */
  rotateApplicationSecret: Method<RotateApplicationSecretRequest, ApplicationWithSecret>
  /** Ends the overlap of a rotation before its time: the previous secret and its tokens stop working within 1 second. Where no previous secret works, nothing changes. With `If-Match`, only the secret that the record showed is ended, not that of a rotation since. */
  endPreviousApplicationSecret: Method<EndPreviousApplicationSecretRequest, Application>
  /** Answers one application. An application may ask for itself, and also gets the service’s settings that concern it. */
  getApplication: Method<GetApplicationQuery, GetApplicationResult>
  /** Pages through the applications, newest first; a developer sees those that they are a member of. */
  pageApplications: PageMethod<PageApplicationsQuery, ApplicationPage>
  /** Creates or replaces the device model of a serial prefix. */
  saveDeviceModel: Method<SaveDeviceModelRequest, DeviceModel>
  /** Deletes the device model of a serial prefix; devices of this model keep it. */
  deleteDeviceModel: Method<DeleteDeviceModelRequest, DeviceModel>
  /** Pages through the device models by serial prefix. */
  pageDeviceModels: PageMethod<PageDeviceModelsQuery, DeviceModelPage>
  /** Adds serial numbers to the inventory, or changes their models; either the whole list is written, or nothing. */
  importDeviceInventory: Method<ImportDeviceInventoryRequest, ImportDeviceInventoryResult>
  /** Pages through the inventory by serial number. */
  pageDeviceInventory: PageMethod<PageDeviceInventoryQuery, InventoryEntryPage>
  /** Takes a serial number out of the inventory; a device that is bound stays bound. */
  deleteDeviceInventory: Method<DeleteDeviceInventoryRequest, InventoryEntry>
  /** Signs in, by name and password, and `code` where the account has a second factor; by a passkey; or by an operator key. The session is a cookie that scripts cannot read. The browser’s previous session ends, and so does the oldest of more than 20 sessions of an account. */
  createSession: Method<CreateSessionRequest, Session>
  /** Begins a sign-in by passkey: answers the options for the browser, which do not show whether an account exists. */
  startPasskeySession: Method<StartPasskeySessionRequest, StartPasskeySessionResult>
  /** Answers who the caller is. */
  getSession: Method<Record<never, never>, GetSessionResult>
  /** Records in the session that its person has proved again who they are, which operations on people, secrets and ownership require. The proof is the password, with `code` if the account has a code generator; a passkey; or, in a session by an operator key, that key. */
  confirmSession: Method<ConfirmSessionRequest, Session>
  /** Answers the settings of the service that a console needs. */
  getSettings: Method<Record<never, never>, GetSettingsResult>
  /** Pages through one’s own sessions, newest first; an admin sees everyone’s. */
  pageSessions: PageMethod<PageSessionsQuery, SessionPage>
  /** Ends a session: one’s own, or, for an admin, any. */
  deleteSession: Method<DeleteSessionRequest, DeleteSessionResult>
  /** Answers what a sign-in page offers. */
  getSignOn: Method<Record<never, never>, GetSignOnResult>
  /** Begins a sign-on: answers the address to which the browser must go, and a cookie for its return. `link` and `confirm` need a session, for `link` with a recent proof of the person; `setUp` needs the token of a set-up link. */
  startSignOn: Method<StartSignOnRequest, StartSignOnResult>
  /** Where the provider sends the browser back to. Always 303, to the console: to the page that was asked for, or with the code of a refusal. A link or a confirmation is carried out if the cookie of the session that began it comes with the request; otherwise the account page completes it. */
  finishSignOn: Method<Record<never, never>, unknown>
  /** Completes a link or a confirmation that came back from the provider without the cookie of its session, in that session. */
  completeSignOn: Method<CompleteSignOnRequest, CompleteSignOnResult>
  /** Ends sessions that the provider has ended (OpenID Connect Back-Channel Logout 1.0). The body is a form. */
  logOutByProvider: Method<LogOutByProviderRequest, LogOutByProviderResult>
  /** Removes the link to the provider from one’s own account or, for an admin, from any account. */
  unlinkSignOn: Method<UnlinkSignOnRequest, Operator>
  /** Answers the second factors of one’s own account. */
  getSecondFactors: Method<Record<never, never>, SecondFactors>
  /** Makes the secret of a code generator (RFC 6238: SHA-1, 6 digits, 30 s), for an app that shows codes. The generator is set up only when one of its codes is saved, within 10 minutes. */
  startTotp: Method<StartTotpRequest, StartTotpResult>
  /** Sets up the new code generator by one of its codes, in place of an earlier generator. */
  saveTotp: Method<SaveTotpRequest, SecondFactorsWithCodes>
  /** Removes one’s code generator. With the last factor, the recovery codes are removed too. */
  deleteTotp: Method<DeleteTotpRequest, SecondFactors>
  /** Begins a new passkey (WebAuthn): the options for the browser. An account has at most 20. */
  startPasskey: Method<StartPasskeyRequest, StartPasskeyResult>
  /** Adds the passkey that the browser made. */
  savePasskey: Method<SavePasskeyRequest, SecondFactorsWithCodes>
  /** Removes one of one’s passkeys. With the last factor, the recovery codes are removed too. */
  deletePasskey: Method<DeletePasskeyRequest, SecondFactors>
  /** Makes ten new recovery codes in place of all others, and shows them once. */
  renewRecoveryCodes: Method<RenewRecoveryCodesRequest, RenewRecoveryCodesResult>
  /** Removes all second factors of another account, ends its sessions and forgets its browsers. */
  resetSecondFactors: Method<ResetSecondFactorsRequest, Operator>
  /** Creates an account. If no password is given, the answer holds a one-time link with which the person sets a password. */
  createOperator: Method<CreateOperatorRequest, OperatorWithSetUp>
  /** Changes the given members of an account; the changes apply to its sessions within 1 second. The last active admin must stay an active admin. With `handOverTo` a disabled account gives up its keys and saved views in the same step; a view whose name is taken on its list gets “(2)”. */
  updateOperator: Method<UpdateOperatorRequest, Operator>
  /** Removes an account and ends its sessions. What the account did stays in the events. Its keys and saved views go with it, or to the account of `handOverTo`. */
  deleteOperator: Method<DeleteOperatorRequest, Operator>
  /** Creates a new one-time link by which the person sets a password; the old password and sessions end immediately. */
  resetOperator: Method<ResetOperatorRequest, OperatorWithSetUp>
  /** Sets the password of the account that a one-time link was made for, and signs the person in. An account that has a second factor needs `code` too. */
  setUpOperator: Method<SetUpOperatorRequest, Session>
  /** Changes one’s own password; one’s other sessions end. */
  changePassword: Method<ChangePasswordRequest, Operator>
  /** Answers one account. */
  getOperator: Method<GetOperatorQuery, Operator>
  /** Pages through the accounts, newest first. */
  pageOperators: PageMethod<PageOperatorsQuery, OperatorPage>
  /** Creates a key for a program, and shows it once. The key belongs to the account that creates it, and is deleted with that account. */
  createOperatorKey: Method<CreateOperatorKeyRequest, CreateOperatorKeyResult>
  /** Revokes a key: the key and its sessions stop working within 1 second. */
  deleteOperatorKey: Method<DeleteOperatorKeyRequest, OperatorKey>
  /** Gives a key to another account, even if its present owner is disabled. The key keeps working, within the new owner’s role. */
  handOverOperatorKey: Method<HandOverOperatorKeyRequest, OperatorKey>
  /** Pages through the keys, newest first. */
  pageOperatorKeys: PageMethod<PageOperatorKeysQuery, OperatorKeyPage>
  /** Pages through the keys of one’s own account, newest first: those that it made or that were handed over to it. */
  pageOwnOperatorKeys: PageMethod<PageOwnOperatorKeysQuery, OperatorKeyPage>
  /** Saves a view of one of the console’s lists in one’s own account. It replaces the view of that list with the same name; with an `id`, it changes that view, including its name. An account has at most 50 views. */
  saveView: Method<SaveViewRequest, View>
  /** Pages through the views of one’s own account, newest first; admins page through those of any account. */
  pageViews: PageMethod<PageViewsQuery, ViewPage>
  /** Deletes a view of one’s own account. */
  deleteView: Method<DeleteViewRequest, View>
  /** Answers the platform at a glance, as it was at `countTime`: some seconds ago, or a minute ago if there is much to count. If the count is older, the request waits for a new one, for 3 seconds at most. */
  getOverview: Method<Record<never, never>, GetOverviewResult>
  /** Finds devices by serial number; sites, applications, billing rules and accounts by a part of the name; an application by the beginning of its id; and a refused write by its request id. At most 8 records of each kind are returned. Upper and lower case are treated alike, except in a request id. The beginning of a serial number is searched in all rows (for a developer, only the whole serial number is); parts of names and other parts of serial numbers only in the first 30,000 rows, while the page operations search all rows. A developer finds only records of their own applications; only admins find accounts. */
  search: Method<SearchQuery, SearchResult>
  /** Answers while the process is alive. */
  getHealth: Method<Record<never, never>, GetHealthResult>
  /** Answers whether requests can be served, with the result of each check. The status is 503 while a check other than `nodes` fails. */
  getReadiness: Method<Record<never, never>, GetReadinessResult>
  /** Answers the service’s metrics in the Prometheus text format. */
  getMetrics: Method<Record<never, never>, string>
  /** Answers this API’s OpenAPI 3.1 document. */
  getOpenApi: Method<Record<never, never>, Record<string, unknown>>
  /** Answers the service’s runtime, database and disk, the sizes of its tables, and a forecast for a year; some seconds old. */
  getServiceDetail: Method<Record<never, never>, GetServiceDetailResult>
}

/** How each operation is called. */
export const operations = {
  issueToken: { method: 'POST', path: '/api/auth/v1/oauth/token', isOpen: true },
  revokeToken: { method: 'POST', path: '/api/auth/v1/oauth/revoke', isOpen: true },
  getAuthorizationServer: { method: 'GET', path: '/.well-known/oauth-authorization-server', isOpen: true, answers: 'application/json' },
  saveSite: { method: 'POST', path: '/api/charging/v1/siteManageThird/save', isIdempotent: true },
  saveSites: { method: 'POST', path: '/api/charging/v1/siteManageThird/saveBatch', isIdempotent: true },
  updateSite: { method: 'POST', path: '/api/charging/v1/siteManageThird/update' },
  updateSites: { method: 'POST', path: '/api/charging/v1/siteManageThird/updateBatch', isIdempotent: true },
  deleteSite: { method: 'POST', path: '/api/charging/v1/siteManageThird/delete', isIdempotent: true },
  getSite: { method: 'GET', path: '/api/charging/v1/siteManageThird/detail' },
  pageSites: { method: 'GET', path: '/api/charging/v1/siteManageThird/page', isPage: true },
  getSitePrices: { method: 'GET', path: '/api/charging/v1/siteManageThird/prices' },
  saveBillingRule: { method: 'POST', path: '/api/charging/v1/billingRule/save', isIdempotent: true },
  updateBillingRule: { method: 'POST', path: '/api/charging/v1/billingRule/update' },
  deleteBillingRule: { method: 'POST', path: '/api/charging/v1/billingRule/delete', isIdempotent: true },
  getBillingRule: { method: 'GET', path: '/api/charging/v1/billingRule/detail' },
  pageBillingRules: { method: 'GET', path: '/api/charging/v1/billingRule/page', isPage: true },
  schedulePriceChange: { method: 'POST', path: '/api/charging/v1/priceChange/schedule', isIdempotent: true },
  cancelPriceChange: { method: 'POST', path: '/api/charging/v1/priceChange/cancel', isIdempotent: true },
  undoPriceChange: { method: 'POST', path: '/api/charging/v1/priceChange/undo', isIdempotent: true },
  getPriceChange: { method: 'GET', path: '/api/charging/v1/priceChange/detail' },
  pagePriceChanges: { method: 'GET', path: '/api/charging/v1/priceChange/page', isPage: true },
  saveThirdPartyConfig: { method: 'POST', path: '/api/charging/v1/thirdPartyConfig/save', isIdempotent: true },
  getThirdPartyConfig: { method: 'GET', path: '/api/charging/v1/thirdPartyConfig/detail' },
  rotateCallbackSecret: { method: 'POST', path: '/api/charging/v1/thirdPartyConfig/rotateSecret', isIdempotent: true },
  createDevice: { method: 'POST', path: '/api/device/entrance/guard/create', isIdempotent: true },
  createDevices: { method: 'POST', path: '/api/device/entrance/guard/createBatch', isIdempotent: true },
  updateDevice: { method: 'POST', path: '/api/device/entrance/guard/update' },
  updateDevices: { method: 'POST', path: '/api/device/entrance/guard/updateBatch', isIdempotent: true },
  getDevice: { method: 'GET', path: '/api/device/entrance/guard/detail' },
  pageDevices: { method: 'GET', path: '/api/device/entrance/guard/page', isPage: true },
  reportDeviceState: { method: 'POST', path: '/api/device/entrance/guard/state' },
  reportDeviceStates: { method: 'POST', path: '/api/device/entrance/guard/stateBatch', isIdempotent: true },
  getDeviceState: { method: 'GET', path: '/api/device/entrance/guard/state' },
  unbindDevice: { method: 'POST', path: '/api/device/entrance/guard/unbind', isIdempotent: true },
  unbindDevices: { method: 'POST', path: '/api/device/entrance/guard/unbindBatch', isIdempotent: true },
  getDeviceHistory: { method: 'GET', path: '/api/device/entrance/guard/history' },
  forceUnbindDevice: { method: 'POST', path: '/api/platform/v1/device/forceUnbind', isIdempotent: true },
  transferDevice: { method: 'POST', path: '/api/platform/v1/device/transfer', isIdempotent: true },
  transferDevices: { method: 'POST', path: '/api/platform/v1/device/transferBatch', isIdempotent: true },
  savePlacement: { method: 'POST', path: '/api/device/entrance/placement/save' },
  savePlacements: { method: 'POST', path: '/api/device/entrance/placement/saveBatch', isIdempotent: true },
  removePlacement: { method: 'POST', path: '/api/device/entrance/placement/remove', isIdempotent: true },
  removePlacements: { method: 'POST', path: '/api/device/entrance/placement/removeBatch', isIdempotent: true },
  getPlacement: { method: 'GET', path: '/api/device/entrance/placement/detail' },
  pagePlacements: { method: 'GET', path: '/api/device/entrance/placement/page', isPage: true },
  pagePlacementHistory: { method: 'GET', path: '/api/device/entrance/placement/history', isPage: true },
  summarizePlacements: { method: 'GET', path: '/api/device/entrance/placement/summary' },
  suggestPlacements: { method: 'GET', path: '/api/device/entrance/placement/suggest' },
  pageEvents: { method: 'GET', path: '/api/event/v1/event/page', isPage: true },
  streamEvents: { method: 'GET', path: '/api/event/v1/event/stream', answers: ['text/event-stream'] },
  getEvent: { method: 'GET', path: '/api/event/v1/event/detail' },
  pageAudit: { method: 'GET', path: '/api/platform/v1/audit/page', isPage: true },
  pageDeliveries: { method: 'GET', path: '/api/event/v1/delivery/page', isPage: true },
  getDelivery: { method: 'GET', path: '/api/event/v1/delivery/detail' },
  replayDeliveries: { method: 'POST', path: '/api/event/v1/delivery/replay', isIdempotent: true },
  testDelivery: { method: 'POST', path: '/api/event/v1/delivery/test', isIdempotent: true },
  getCallbackHealth: { method: 'GET', path: '/api/platform/v1/delivery/health' },
  pageRefusals: { method: 'GET', path: '/api/event/v1/refusal/page', isPage: true },
  createImport: { method: 'POST', path: '/api/bulk/v1/import/create', isIdempotent: true, takesFile: true },
  getImport: { method: 'GET', path: '/api/bulk/v1/import/detail' },
  pageImports: { method: 'GET', path: '/api/bulk/v1/import/page', isPage: true },
  cancelImport: { method: 'POST', path: '/api/bulk/v1/import/cancel' },
  getImportResult: { method: 'GET', path: '/api/bulk/v1/import/result', answers: ['application/x-ndjson', 'text/csv'] },
  createExport: { method: 'GET', path: '/api/bulk/v1/export/create', answers: ['text/csv', 'application/x-ndjson', 'application/geo+json'] },
  getTemplate: { method: 'GET', path: '/api/bulk/v1/template', answers: ['text/csv'] },
  createAct: { method: 'POST', path: '/api/bulk/v1/act/create', isIdempotent: true },
  getAct: { method: 'GET', path: '/api/bulk/v1/act/detail' },
  pageActs: { method: 'GET', path: '/api/bulk/v1/act/page', isPage: true },
  cancelAct: { method: 'POST', path: '/api/bulk/v1/act/cancel' },
  getActResult: { method: 'GET', path: '/api/bulk/v1/act/result', answers: ['application/x-ndjson'] },
  getRegionTree: { method: 'GET', path: '/api/region/v1/region/tree' },
  getRegion: { method: 'GET', path: '/api/region/v1/region/detail' },
  saveRegion: { method: 'POST', path: '/api/platform/v1/region/save', isIdempotent: true },
  deleteRegion: { method: 'POST', path: '/api/platform/v1/region/delete', isIdempotent: true },
  pageRegions: { method: 'GET', path: '/api/platform/v1/region/page', isPage: true },
  createApplication: { method: 'POST', path: '/api/platform/v1/application/create', isIdempotent: true },
  updateApplication: { method: 'POST', path: '/api/platform/v1/application/update' },
  takeApplicationOnline: { method: 'POST', path: '/api/platform/v1/application/online' },
  takeApplicationOffline: { method: 'POST', path: '/api/platform/v1/application/offline' },
  freezeApplication: { method: 'POST', path: '/api/platform/v1/application/freeze' },
  unfreezeApplication: { method: 'POST', path: '/api/platform/v1/application/unfreeze' },
  rotateApplicationSecret: { method: 'POST', path: '/api/platform/v1/application/rotateSecret', isIdempotent: true },
  endPreviousApplicationSecret: { method: 'POST', path: '/api/platform/v1/application/endPreviousSecret' },
  getApplication: { method: 'GET', path: '/api/platform/v1/application/detail' },
  pageApplications: { method: 'GET', path: '/api/platform/v1/application/page', isPage: true },
  saveDeviceModel: { method: 'POST', path: '/api/platform/v1/deviceModel/save', isIdempotent: true },
  deleteDeviceModel: { method: 'POST', path: '/api/platform/v1/deviceModel/delete', isIdempotent: true },
  pageDeviceModels: { method: 'GET', path: '/api/platform/v1/deviceModel/page', isPage: true },
  importDeviceInventory: { method: 'POST', path: '/api/platform/v1/deviceInventory/import', isIdempotent: true },
  pageDeviceInventory: { method: 'GET', path: '/api/platform/v1/deviceInventory/page', isPage: true },
  deleteDeviceInventory: { method: 'POST', path: '/api/platform/v1/deviceInventory/delete', isIdempotent: true },
  createSession: { method: 'POST', path: '/api/platform/v1/session/create', isOpen: true },
  startPasskeySession: { method: 'POST', path: '/api/platform/v1/session/startPasskey', isOpen: true },
  getSession: { method: 'GET', path: '/api/platform/v1/session/detail' },
  confirmSession: { method: 'POST', path: '/api/platform/v1/session/confirm' },
  getSettings: { method: 'GET', path: '/api/platform/v1/session/settings' },
  pageSessions: { method: 'GET', path: '/api/platform/v1/session/page', isPage: true },
  deleteSession: { method: 'POST', path: '/api/platform/v1/session/delete', isIdempotent: true },
  getSignOn: { method: 'GET', path: '/api/platform/v1/signOn/detail', isOpen: true },
  startSignOn: { method: 'POST', path: '/api/platform/v1/signOn/start', isOpen: true },
  finishSignOn: { method: 'GET', path: '/api/platform/v1/signOn/callback', isOpen: true },
  completeSignOn: { method: 'POST', path: '/api/platform/v1/session/completeSignOn' },
  logOutByProvider: { method: 'POST', path: '/api/platform/v1/signOn/backchannelLogout', isOpen: true },
  unlinkSignOn: { method: 'POST', path: '/api/platform/v1/signOn/unlink' },
  getSecondFactors: { method: 'GET', path: '/api/platform/v1/secondFactor/detail' },
  startTotp: { method: 'POST', path: '/api/platform/v1/secondFactor/startTotp' },
  saveTotp: { method: 'POST', path: '/api/platform/v1/secondFactor/saveTotp' },
  deleteTotp: { method: 'POST', path: '/api/platform/v1/secondFactor/deleteTotp' },
  startPasskey: { method: 'POST', path: '/api/platform/v1/secondFactor/startPasskey' },
  savePasskey: { method: 'POST', path: '/api/platform/v1/secondFactor/savePasskey' },
  deletePasskey: { method: 'POST', path: '/api/platform/v1/secondFactor/deletePasskey' },
  renewRecoveryCodes: { method: 'POST', path: '/api/platform/v1/secondFactor/renewRecoveryCodes' },
  resetSecondFactors: { method: 'POST', path: '/api/platform/v1/secondFactor/reset', isIdempotent: true },
  createOperator: { method: 'POST', path: '/api/platform/v1/operator/create', isIdempotent: true },
  updateOperator: { method: 'POST', path: '/api/platform/v1/operator/update' },
  deleteOperator: { method: 'POST', path: '/api/platform/v1/operator/delete', isIdempotent: true },
  resetOperator: { method: 'POST', path: '/api/platform/v1/operator/reset', isIdempotent: true },
  setUpOperator: { method: 'POST', path: '/api/platform/v1/operator/setUp', isOpen: true },
  changePassword: { method: 'POST', path: '/api/platform/v1/operator/changePassword' },
  getOperator: { method: 'GET', path: '/api/platform/v1/operator/detail' },
  pageOperators: { method: 'GET', path: '/api/platform/v1/operator/page', isPage: true },
  createOperatorKey: { method: 'POST', path: '/api/platform/v1/operatorKey/create', isIdempotent: true },
  deleteOperatorKey: { method: 'POST', path: '/api/platform/v1/operatorKey/delete', isIdempotent: true },
  handOverOperatorKey: { method: 'POST', path: '/api/platform/v1/operatorKey/handOver', isIdempotent: true },
  pageOperatorKeys: { method: 'GET', path: '/api/platform/v1/operatorKey/page', isPage: true },
  pageOwnOperatorKeys: { method: 'GET', path: '/api/platform/v1/ownOperatorKey/page', isPage: true },
  saveView: { method: 'POST', path: '/api/platform/v1/view/save' },
  pageViews: { method: 'GET', path: '/api/platform/v1/view/page', isPage: true },
  deleteView: { method: 'POST', path: '/api/platform/v1/view/delete' },
  getOverview: { method: 'GET', path: '/api/platform/v1/overview/detail' },
  search: { method: 'GET', path: '/api/platform/v1/search' },
  getHealth: { method: 'GET', path: '/healthz', isOpen: true },
  getReadiness: { method: 'GET', path: '/readyz', isOpen: true },
  getMetrics: { method: 'GET', path: '/metrics', answers: 'text/plain' },
  getOpenApi: { method: 'GET', path: '/openapi.json', isOpen: true, answers: 'application/json' },
  getServiceDetail: { method: 'GET', path: '/api/platform/v1/service/detail' },
} as const

export const RuleType = { fast: 1, slow: 2, occupancy: 3 } as const

export const PriceChangeStatus = { scheduled: 1, applied: 2, cancelled: 3 } as const

export const DeviceStatus = { normal: 1, faulty: 2 } as const

export const OnlineStatus = { online: 1, offline: 2 } as const

export const RunStatus = { closed: 0, open: 1, stopped: 2 } as const

export const LaneType = { entrance: 1, exit: 2, both: 3, door: 4 } as const

export const DeliveryStatus = { pending: 1, delivered: 2, failed: 3 } as const

export const ImportStatus = { waiting: 1, running: 2, done: 3, failed: 4, cancelled: 5 } as const

export const ActStatus = { waiting: 1, running: 2, done: 3, failed: 4, cancelled: 5 } as const

export const RegionLevel = { province: 1, city: 2, district: 3 } as const

/** The names of the refusals, by their codes. */
export const codeNames = {
  10001: 'invalidRequest',
  10002: 'tokenInvalid',
  10003: 'notPermitted',
  10004: 'applicationNotFound',
  10005: 'applicationFrozen',
  10006: 'applicationOffline',
  10007: 'tooManyRequests',
  10008: 'idempotencyKeyReused',
  10009: 'preconditionFailed',
  10030: 'clientInvalid',
  10031: 'signInFailed',
  10032: 'secondFactorRequired',
  10033: 'codeInvalid',
  10034: 'secondFactorSetUpRequired',
  10035: 'confirmationRequired',
  10040: 'regionNotFound',
  10041: 'regionInUse',
  10042: 'callbackMissing',
  10050: 'operatorNotFound',
  10051: 'operatorNameTaken',
  10052: 'setUpLinkInvalid',
  10053: 'sessionNotFound',
  10054: 'lastAdmin',
  10055: 'operatorKeyNotFound',
  10056: 'secondFactorNotFound',
  10057: 'lastSecondFactor',
  10060: 'signOnOff',
  10061: 'signOnFailed',
  10062: 'signOnRefused',
  10063: 'signOnUnavailable',
  10064: 'signOnLinked',
  10065: 'managedBySignOn',
  10066: 'passwordSignInOff',
  10070: 'viewNotFound',
  10071: 'viewNameTaken',
  20002: 'deviceNotFound',
  20013: 'deviceBoundElsewhere',
  20014: 'deviceUnknown',
  20017: 'deviceAlreadyYours',
  20021: 'deviceModelNotFound',
  20022: 'inventoryEntryNotFound',
  20030: 'placementNotFound',
  30002: 'siteNotFound',
  30003: 'thirdPartyConfigMissing',
  40002: 'billingRuleNotFound',
  40003: 'billingRuleWrongType',
  40004: 'billingRuleInUse',
  40005: 'priceChangeNotFound',
  40006: 'priceChangeWrongState',
  40007: 'priceChangeClash',
  49999: 'internalFault',
  50003: 'unavailable',
  60002: 'eventNotFound',
  60003: 'deliveryNotFound',
  70002: 'importNotFound',
  70003: 'importRunning',
  70004: 'rowsChanged',
} as const

/** The name of a refusal. */
export type RefusalName = (typeof codeNames)[keyof typeof codeNames]

/** The version of the SDK, as in its `User-Agent`. */
export const sdkVersion = '1.0.0'

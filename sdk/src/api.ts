// Made from the contracts by `npm run generate`. Not to be edited.

import type { ExportMethod, FileMethod, Followed, Method, PageMethod } from './method.ts'

export type { CallOptions, StreamOptions } from './method.ts'

export interface Act {
  /** The id of the record. */
  id: number
  appId: string
  kind: ActKind
  act: ActName
  /** Filters of the list operation of this kind, as JSON values: at least one, or `all`. Rows must match all of them. */
  filter: ActFilter
  /** For update: the fields to set, as in the update operation of a single row. */
  set: DeviceChanges | SiteChanges | null
  /** for a transfer: the application that receives the devices; null for callers that may not see it */
  targetAppId: string | null
  /** The reason. */
  reason: string | null
  /** true: matches were only counted. */
  dryRun: boolean
  status: ActStatus
  /** Rows that matched at the start. */
  rows: number
  /** Rows that were changed. */
  done: number
  /** Rows that needed no change; they write no event. */
  unchanged: number
  /** Rows that were refused. */
  refused: number
  /** Who acted: application:…, operator:… or operatorKey:…. */
  actor: string
  /** When the record was created. */
  createTime: string
  /** When the bulk action finished; null until then. */
  finishTime: string | null
  /** Why the bulk action failed; null if it didn’t. */
  error: string | null
  /** `error` as data; null if the job did not fail. */
  failure: JobFailure | null
}

export interface ActFilter {
  /** part of the name, not case-sensitive */
  siteName?: string | null | undefined
  /** part of the contact person’s name, not case-sensitive */
  contacts?: string | null | undefined
  /** The province’s code. */
  provinceCode?: string | null | undefined
  /** The city’s code. */
  cityCode?: string | null | undefined
  /** The district’s code. */
  districtCode?: string | null | undefined
  /** Only rows about this billing rule. */
  billingRuleId?: number | null | undefined
  /** true: only sites with devices; false: only sites without devices. */
  hasDevices?: boolean | null | undefined
  /** Only rows at or after this time. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | null | undefined
  /** Only rows at or before this time (the whole second included). yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | null | undefined
  /** A map area: minLng,minLat,maxLng,maxLat in decimal degrees, edges included. Minimums can’t exceed maximums. */
  bbox?: string | null | undefined
  /** true: all rows. Can’t be combined with other filters. */
  all?: boolean | null | undefined
  /** part of the serial number, not case-sensitive */
  deviceNo?: string | null | undefined
  /** part of the name, not case-sensitive */
  deviceName?: string | null | undefined
  /** Free text for the integrator’s own use. */
  tag?: string | null | undefined
  /** The device’s model; null if unknown. */
  modelName?: string | null | undefined
  /** 1 normal, 2 faulty. */
  status?: DeviceStatus | null | undefined
  /** 1 online, 2 offline. */
  onlineStatus?: OnlineStatus | null | undefined
  /** 0 closed, 1 open, 2 stopped. */
  runStatus?: RunStatus | null | undefined
  /** Only devices at this site. */
  siteId?: number | null | undefined
  /** true: only devices at a site; false: only devices without a site. */
  isPlaced?: boolean | null | undefined
  /** Only devices with a last report at or after this time. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  lastReportFrom?: string | null | undefined
  /** Only devices with a last report at or before this time (the whole second included). yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  lastReportTo?: string | null | undefined
  /** true: only devices that have reported; false: only devices that have never reported. */
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
  /** Token lifetime in seconds; default 7200. */
  tokenLifetimeSeconds: number
  /** Maximum requests per second; null for no limit. */
  rateLimitPerSecond: number | null
  /** Until when the previous secret and its tokens stay valid alongside the current one; null if no previous secret is valid. */
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
  /** The record, as returned by its detail operation. */
  data: Application
}

export type ApplicationPage = Page & {
  /** The rows of this page. */
  list: Array<Application>
}

export type ApplicationWithSecret = Application & {
  /** shown only once: the service stores only its SHA-256, so the response to a retry has null */
  appSecret: string | null
}

export interface AttemptCounts {
  /** number of attempts for deliveries started in this period, including attempts before a replay, without tests */
  attempts: number
  /** number of failed attempts */
  failed: number
}

/** Why attempts failed: a response other than 2xx; a host name not found or not resolved in time; a private address; a timeout; a connection that was refused, closed, unroutable or without a valid certificate; a URL that is no longer allowed; a secret that can’t be decrypted; an event that is no longer stored; or another reason. */
export type AttemptError = 'httpStatus' | 'nameNotFound' | 'nameServerSilent' | 'privateAddress' | 'timeout' | 'refused' | 'closed' | 'unreachable' | 'tls' | 'url' | 'secret' | 'eventGone' | 'other'

export interface AuditEntry {
  /** the id, ascending within an application */
  id: number
  /** What happened. */
  type: LoggedType
  /** the application; null if the event concerns none */
  appId: string | null
  time: string
  /** The instant of `time` in RFC 3339, to the millisecond. */
  occurredAt: string
  /** Who acted: application:…, operator:… or operatorKey:…. */
  actor: string
  /** The record, as returned by its detail operation. */
  data: Record<never, never>
  /** the ID of the account or key that acted; renaming doesn’t change it */
  actorId: number | null
  /** the subject of the event: a serial number or an ID */
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
  /** Filters of the list operation of this kind, as JSON values: at least one, or `all`. Rows must match all of them. */
  filter: ActFilter
  /** For update: the fields to set, as in the update operation of a single row. */
  set: DeviceChanges | SiteChanges | null
  /** for a transfer: the application that receives the devices; null for callers that may not see it */
  targetAppId: string | null
  /** The reason. */
  reason: string | null
  /** true: matches were only counted. */
  dryRun: boolean
  status: ActStatus
  /** Rows that matched at the start. */
  rows: number
  /** Rows that were changed. */
  done: number
  /** Rows that needed no change; they write no event. */
  unchanged: number
  /** Rows that were refused. */
  refused: number
  /** Who acted: application:…, operator:… or operatorKey:…. */
  actor: string
  /** When the record was created. */
  createTime: string
  /** When the bulk action finished; null until then. */
  finishTime: string | null
  /** Why the bulk action failed; null if it didn’t. */
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
  /** For type 3: free minutes after charging. */
  freeMinutes: number | null
  /** For type 3: length of a billing unit in minutes. Each started unit costs `unitPrice`. */
  unitMinutes: number | null
  /** For type 3: the price of one unit, in yuan. */
  unitPrice: string | null
  /** For type 3: maximum charge per day, in yuan; null for no limit. */
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
  /** The record, as returned by its detail operation. */
  data: BillingRule
}

export type BillingRulePage = Page & {
  /** The rows of this page. */
  list: Array<BillingRule>
}

export interface Binding {
  appId: string
  boundAt: string
  /** when the binding ended; null if it is current */
  unboundAt: string | null
  /** Who ended the binding. */
  unboundBy: string | null
  /** The reason. */
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
  /** Why the attempt failed; null if it didn’t. */
  error: AttemptError
  /** the `error` of these deliveries, in words */
  reason: string
  /** the HTTP status of the latest attempt; null without one */
  responseStatus: number | null
  /** number of pending deliveries */
  waiting: number
  /** number of failed deliveries */
  dead: number
  /** The time of the oldest event of these deliveries. */
  timeFrom: string
  /** The time of the latest event of these deliveries. */
  timeTo: string
}

export interface CallbackHealth {
  appId: string
  state: CallbackState
  callbacks: CallbacksSwitch
  /** until when nothing is sent to the endpoint, because attempts have failed */
  heldUntil: string | null
  /** since when all attempts have failed; null if the latest one didn’t */
  failingSince: string | null
  /** why the latest attempt failed */
  failingReason: string | null
  /** last success among the 5000 latest deliveries */
  lastSuccessTime: string | null
  /** false: no delivery has succeeded since the first configuration, so the receiver may not be set up yet. Also true if older deliveries are no longer stored. */
  hasSucceeded: boolean
  /** Attempts for deliveries of the last hour. */
  lastHour: AttemptCounts
  /** Attempts for deliveries of the last 24 hours. */
  lastDay: AttemptCounts
  /** `lastHour` and `lastDay` count only deliveries started since this time; null if the last day has fewer than 5000 deliveries */
  countedFrom: string | null
  /** number of queued events (without a delivery yet), counted up to 10000 */
  waitingEvents: number
  /** Number of missed events: created while the endpoint was disabled (410), so without a delivery. They are sent only by a replay. In a list, only those in its time range. Counted within the first 2000 events of each of the latest outages; null for several applications. */
  missedEvents: number | null
  /** whether all events of these outages were counted */
  missedIsExact: boolean
  /** time of the oldest missed event */
  missedFrom: string | null
  /** time of the latest missed event */
  missedTo: string | null
  /** number of pending deliveries, counted up to 5000 */
  waitingRetries: number
  /** time of the oldest queued or pending event */
  waitingSince: string | null
  /** number of failed deliveries, without tests, counted up to 5000 */
  dead: number
  /** pending and failed deliveries by reason, most frequent first, up to 20 reasons */
  failures: Array<CallbackFailure>
}

/** off: no callback URL. delivering: the latest attempt succeeded, or none was needed. failing: the latest attempts failed. held: the endpoint is paused until `heldUntil`. stopped: the endpoint is disabled, because it responded with 410. paused: all callbacks of the service are paused. */
export type CallbackState = 'off' | 'delivering' | 'failing' | 'held' | 'stopped' | 'paused'

/** paused: no callbacks are sent. */
export type CallbacksSwitch = 'on' | 'paused'

export interface CancelActRequest {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | null | undefined
  /** The id of the record. */
  id: number
}

export interface CancelImportRequest {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | null | undefined
  /** The id of the record. */
  id: number
}

export interface CancelPriceChangeRequest {
  appId?: string | null | undefined
  /** The id of the record. */
  id: number
  /** The reason. */
  reason: string
}

export interface ChangePasswordRequest {
  /** The current password. */
  password: string
  newPassword: string
}

/** `ids`, or `all`, or any of the other filters, all of which must match. Unknown fields are refused. The set of sites is fixed when the change is scheduled: up to 10000. */
export interface ChosenSites {
  /** The ids of the sites. */
  ids?: Array<number> | null | undefined
  /** true: all sites of the application. */
  all?: boolean | null | undefined
  /** The province’s code. */
  provinceCode?: string | null | undefined
  /** The city’s code. */
  cityCode?: string | null | undefined
  /** The district’s code. */
  districtCode?: string | null | undefined
  /** Sites that use this billing rule. */
  billingRuleId?: number | null | undefined
}

export type CompleteSignOnRequest = Record<never, never>

export interface CompleteSignOnResult {
  /** The page that was asked for. */
  returnTo: string
}

export interface ConfirmSessionRequest {
  /** The current password. */
  password?: string | null | undefined
  /** A 6-digit code from the authenticator app, or a recovery code. */
  code?: string | null | undefined
  /** An operator key, instead of a name and a password. */
  operatorKey?: string | null | undefined
  /** The ticket from the options. Works once, for 5 minutes. */
  ticket?: string | null | undefined
  /** The credential as JSON (`PublicKeyCredential.toJSON()`). */
  credential?: Record<string, unknown> | null | undefined
}

export interface CreateActRequest {
  appId?: string | null | undefined
  kind: ActKind
  act: ActName
  /** Filters of the list operation of this kind, as JSON values: at least one, or `all`. Rows must match all of them. */
  filter: ActFilter
  /** For update: the fields to set, as in the update operation of a single row. */
  set?: DeviceChanges | SiteChanges | null | undefined
  /** For transfer: the application that receives the devices. It must be online. */
  targetAppId?: string | null | undefined
  /** The reason; required for forceUnbind and transfer. */
  reason?: string | null | undefined
  /** The number of matches that you expect. If it differs, the request is refused. */
  expectedRows?: number | null | undefined
  /** true: only counts the rows. Nothing is kept: `id` is null, and no idempotency key is used up. */
  dryRun?: boolean | null | undefined
}

export interface CreateApplicationRequest {
  /** The application’s name, for people. */
  appName: string
  /** Token lifetime in seconds; default 7200. */
  tokenLifetimeSeconds?: number | null | undefined
  /** maximum requests per second, across all processes of a machine; default 1000, null for no limit */
  rateLimitPerSecond?: number | null | undefined
  /** The application’s third-party configuration. */
  thirdPartyConfig?: {
    /** The company’s name. */
    operatorName: string
    /** The company’s id: 9 letters or digits. */
    operatorId?: string | null | undefined
    /** The callback URL: https, or http if the settings allow it. The query is stored encrypted. The application and admins see it in full; other callers and events see `?…` instead. To keep the stored query, send `?…` back. */
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
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** part of the name, not case-sensitive */
  siteName?: string | undefined
  /** part of the contact person’s name, not case-sensitive */
  contacts?: string | undefined
  /** The code of the site’s province. */
  provinceCode?: string | undefined
  /** The code of the site’s city. */
  cityCode?: string | undefined
  /** The code of the site’s district. */
  districtCode?: string | undefined
  /** Only rows about this billing rule. */
  billingRuleId?: number | undefined
  /** true: only sites with devices; false: only sites without devices. */
  hasDevices?: 'true' | 'false' | undefined
  /** Only rows at or after this time. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows at or before this time (the whole second included). yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
  /** A map area: minLng,minLat,maxLng,maxLat in decimal degrees, edges included. Minimums can’t exceed maximums. */
  bbox?: string | undefined
  /** part of the serial number, not case-sensitive */
  deviceNo?: string | undefined
  /** part of the name, not case-sensitive */
  deviceName?: string | undefined
  /** Free text for the integrator’s own use. */
  tag?: string | undefined
  /** The device’s model; null if unknown. */
  modelName?: string | undefined
  /** The status, as in the list operation of this kind. */
  status?: number | undefined
  /** 1 online, 2 offline. */
  onlineStatus?: OnlineStatus | undefined
  /** 0 closed, 1 open, 2 stopped. */
  runStatus?: RunStatus | undefined
  /** Only rows about this site. */
  siteId?: number | undefined
  /** true: only devices at a site; false: only devices without a site. */
  isPlaced?: 'true' | 'false' | undefined
  /** Only devices with a last report at or after this time. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  lastReportFrom?: string | undefined
  /** Only devices with a last report at or before this time (the whole second included). yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  lastReportTo?: string | undefined
  /** true: only devices that have reported; false: only devices that have never reported. */
  hasReported?: 'true' | 'false' | undefined
  /** 1 to 100 serial numbers, separated by commas. Serial numbers that contain a comma can’t be used here. */
  deviceNos?: string | undefined
  /** 1 entrance, 2 exit, 3 both, 4 door. */
  laneType?: LaneType | undefined
  /** part of the name, not case-sensitive */
  ruleName?: string | undefined
  /** 1 fast charging, 2 slow charging, 3 occupancy. The type of a rule cannot be changed. */
  ruleType?: RuleType | undefined
  /** Only undos of these price changes: 1 to 100 IDs, separated by commas. */
  undoOf?: string | undefined
  /** Only events with a larger id, which are newer. */
  afterId?: number | undefined
  /** Only events with a smaller id. */
  beforeId?: number | undefined
  /** One or more event types, separated by commas. */
  type?: string | undefined
  /** asc: oldest first (the default); desc: newest first. */
  order?: 'asc' | 'desc' | undefined
  /** the full name of an actor, or a prefix: operator:… or operatorKey:… */
  actor?: string | undefined
  /** The id of the account or key that acted. */
  actorId?: number | undefined
  /** a whole serial number, the id of a site or a rule, or a new site’s name */
  subject?: string | undefined
  /** true: only delivered (2); false: only pending (1) and failed (3). */
  isDelivered?: 'true' | 'false' | undefined
  /** Only the delivery of this event. */
  eventId?: number | undefined
  /** The error code. */
  code?: number | undefined
  /** the id of an operation */
  operation?: string | undefined
  /** the `X-Request-Id` of a response */
  requestId?: string | undefined
}

export interface CreateImportQuery {
  /** The application’s id. A caller that is an application may leave out its own id; an operator must name an application, but for the inventory, which belongs to none. */
  appId?: string | undefined
  /** The kind of the file’s rows. */
  kind: ImportKind
  /** The format of the file; by default the media type decides. */
  format?: 'csv' | 'ndjson' | undefined
  /** upsert: updates existing rows that differ, matching devices and placements by `deviceNo` and sites by the `id` column; rows without an id create a site. Fields without a column stay unchanged, an empty cell (null in NDJSON) clears an optional field, and the quote before a formula is removed. Default: create. */
  mode?: 'create' | 'upsert' | undefined
  /** true: checks the rows and reports what would happen, without writing anything. */
  dryRun?: 'true' | 'false' | undefined
  /** CSV columns to ignore, separated by commas. A column without a usable name is `column N`. */
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
  /** shown only once: the service stores only its SHA-256, so the response to a retry has null */
  operatorKey: string | null
}

export interface CreateOperatorRequest {
  /** The name of the account, key, region or check. */
  name: string
  role: Role
  /** The current password. */
  password?: string | null | undefined
  /** the applications that a developer is a member of */
  appIds?: Array<string> | null | undefined
}

export interface CreateSessionRequest {
  /** The name of the account, key, region or check. */
  name?: string | null | undefined
  /** The current password. */
  password?: string | null | undefined
  /** A 6-digit code from the authenticator app, or a recovery code. */
  code?: string | null | undefined
  /** An operator key, instead of a name and a password. */
  operatorKey?: string | null | undefined
  /** The ticket from the options. Works once, for 5 minutes. */
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
  /** The serial prefix of the model; the longest matching prefix applies. */
  serialPrefix: string
}

export interface DeleteOperatorKeyRequest {
  /** The id of the record. */
  id: number
}

export interface DeleteOperatorRequest {
  /** The id of the record. */
  id: number
  /** The account that gets the keys and saved views: another active account, which can’t be a developer if there are keys. */
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
  /** For your own single sign-on session: the URL for signing out at the identity provider. */
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
  /** attempts since the delivery was created or last replayed */
  attempts: number
  /** When the record was created. */
  createTime: string
  /** when the next attempt is due, after any pause of the endpoint; null if there is none */
  nextAttemptTime: string | null
  /** When the delivery succeeded or finally failed; null until then. */
  finishTime: string | null
  /** the HTTP status of the latest attempt; null without a response */
  responseStatus: number | null
  /** why the latest attempt failed */
  error: string | null
  /** the first 4 KiB of the latest response */
  response: string | null
  /** How long the attempt took. */
  durationMs: number | null
  /** the latest 20 attempts, oldest first */
  attemptLog: Array<{
    time: string
    /** HTTP status of the response; null without a response. */
    responseStatus: number | null
    /** Why the attempt failed; null if it didn’t. */
    error: string | null
    /** How long the attempt took. */
    durationMs: number
  }>
}

export type DeliveryPage = Page & {
  /** The rows of this page. */
  list: Array<Delivery>
}

/** 1 pending, 2 delivered, 3 failed. */
export type DeliveryStatus = 1 | 2 | 3

export type DeliveryType = 'site.created' | 'site.updated' | 'site.deleted' | 'device.bound' | 'device.updated' | 'device.unbound' | 'device.transferred' | 'device.stateChanged' | 'device.placed' | 'device.unplaced' | 'billingRule.created' | 'billingRule.updated' | 'billingRule.deleted' | 'priceChange.scheduled' | 'priceChange.cancelled' | 'priceChange.applied' | 'application.online' | 'application.offline' | 'application.frozen' | 'application.unfrozen' | 'thirdPartyConfig.saved' | 'test'

export type Device = UnownedDevice & {
  appId: string
}

/** The address of the device (despite the field’s name). */
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
  /** The value that identifies the row; null if the row has none. */
  deviceNo: string | null
  /** 0: success. */
  code: 0
  /** Message: success, or why the row was refused. */
  msg: string
  /** The record, as returned by the operation for a single row. */
  data: Device
}

export type DeviceEvent = EventHead & {
  /** What happened. */
  type: 'device.bound' | 'device.updated' | 'device.unbound'
  /** The record, as returned by its detail operation. */
  data: Device
}

export interface DeviceModel {
  /** The serial prefix of the model; the longest matching prefix applies. */
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
  /** One result per row, in order. */
  results: Array<DeviceDone | DeviceRefused>
}

export type DevicePage = Page & {
  /** The rows of this page. */
  list: Array<Device>
}

export interface DeviceRefused {
  /** The value that identifies the row; null if the row has none. */
  deviceNo: string | null
  /** The error code: why the row was refused. */
  code: RefusalCode
  /** Message: success, or why the row was refused. */
  msg: string
  /** The invalid fields of the row; null if there are none. */
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
  /** Status note from the device. */
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
  /** Status note from the device. */
  statusRemark: string | null
  /** The version of the device’s firmware. */
  version: string | null
  /** The battery’s status, as the device numbers it. */
  batteryStatus: number | null
  /** the battery’s charge, as a percentage */
  batteryEnergy: string | null
  /** When the device reported last. */
  lastReportTime: string | null
  /** The fields that changed, with their previous values. */
  before: {
    status?: DeviceStatus | undefined
    onlineStatus?: OnlineStatus | undefined
    runStatus?: RunStatus | undefined
    /** Status note from the device. */
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
  /** The record, as returned by its detail operation. */
  data: DeviceStateChange
}

export type DeviceStateOrStates = DeviceState | DeviceStates

export interface DeviceStates {
  /** The states, in the order of `deviceNos`, without devices that the caller doesn’t own. */
  list: Array<DeviceState>
}

/** 1 normal, 2 faulty. */
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
  /** The path of the invalid field, such as devices[2].coordinates. */
  field: string
  /** Why the field is not valid, in the language from `Accept-Language`. */
  reason: string
}

export interface FieldFaults {
  /** All invalid fields, up to 1000. */
  errors: Array<FieldFault>
}

export interface Finding {
  /** what was found */
  code: 'asRoot' | 'backup' | 'backupFailed' | 'backupLate' | 'backupMissing' | 'backupNone' | 'callbacks' | 'callbacksDead' | 'callbacksFailing' | 'callbacksLate' | 'callbacksPaused' | 'certificate' | 'certificateEnded' | 'certificateEnds' | 'certificateUnknown' | 'clock' | 'clockAhead' | 'clockBehind' | 'connections' | 'connectionsFew' | 'database' | 'disk' | 'diskElsewhere' | 'diskFull' | 'diskFullSoon' | 'diskLittle' | 'durability' | 'durabilityOff' | 'nodes' | 'nodesUnfit' | 'replication' | 'replicationHidden' | 'replicationLost' | 'replicationNone' | 'vacuumOff' | 'workers' | 'workersMissing' | 'actFailed' | 'callbackDead' | 'callbackFailing' | 'callbackStopped' | 'deviceFaulty' | 'importFailed' | 'siteUnreachable'
  /** ok, warning or failure */
  status: 'ok' | 'warn' | 'fail'
  /** the values of the check result; numbers as text, sizes in bytes */
  values: Array<{
    /** the value’s name */
    name: string
    /** the value */
    value: string
  }>
}

export interface ForceUnbindDeviceRequest {
  deviceNo: string
  /** The reason. */
  reason: string
}

export interface Found {
  /** The kind of record; `operator` is an account, `request` a refused request. */
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
  /** The reason. */
  reason: string
}

export interface GetActQuery {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
}

export interface GetActResultQuery {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
  /** Only rows with this result. */
  outcome?: 'done' | 'unchanged' | 'refused' | undefined
}

export interface GetApplicationQuery {
  /** The application’s ID. Required for operators; applications can omit it. */
  appId?: string | undefined
}

export type GetApplicationResult = Application & {
  /** The time zone in which times are shown and read. */
  timeZone?: string | undefined
  /** A device goes offline after this time without a report. */
  presenceSeconds?: number | undefined
  /** required: only serial numbers in the inventory can be created. */
  inventoryPolicy?: 'open' | 'required' | undefined
  /** The coordinate system of all coordinates; nothing is converted. */
  coordinateSystem?: 'gcj02' | 'wgs84' | 'bd09' | undefined
}

export interface GetAuthorizationServerResult {
  /** The service’s address: from its settings, otherwise the one in the request. */
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
  /** The application’s ID. Required for operators; applications can omit it. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
}

export interface GetCallbackHealthQuery {
  /** The application’s ID. */
  appId: string
}

export interface GetDeliveryQuery {
  /** The application’s ID. Required for operators; applications can omit it. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
}

export interface GetDeviceHistoryQuery {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** A device’s serial number, as printed on the device. A serial number has one owner at a time. */
  deviceNo: string
}

export interface GetDeviceHistoryResult {
  /** the latest 1000 bindings */
  list: Array<Binding>
}

export interface GetDeviceQuery {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** A device’s serial number, as printed on the device. A serial number has one owner at a time. */
  deviceNo: string
}

export interface GetDeviceStateQuery {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** The device’s serial number. */
  deviceNo?: string | undefined
  /** 1 to 100 serial numbers, separated by commas. Serial numbers that contain a comma can’t be used here. */
  deviceNos?: string | undefined
}

export interface GetEventQuery {
  /** The application’s ID. Required for operators; applications can omit it. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
}

export interface GetHealthResult {
  /** Always true. */
  alive: boolean
}

export interface GetImportQuery {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
}

export interface GetImportResultQuery {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
  /** Only rows with this result. */
  outcome?: 'created' | 'updated' | 'existing' | 'refused' | undefined
  /** true: the refused rows as they were sent, in the format of the file, with `refusedLine`, `refusedCode`, `refusedReason`. Correct them and send them again. */
  rows?: 'true' | 'false' | undefined
}

export interface GetOperatorQuery {
  /** The id of the record. */
  id: number
}

export interface GetOverviewResult {
  /** null until the first count is complete */
  counts: PlatformCounts | null
  callbacks: CallbacksSwitch
  /** The time of the counts. */
  countTime: string | null
  /** the ten applications with the most problems */
  troubles: Array<Trouble>
  /** what needs attention, failures first: up to ten of each kind, and for applications those in `troubles` */
  attention: Array<Finding>
  /** counts per minute of the last 24 hours, oldest first, without empty minutes; refused requests as far as they are stored */
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
  /** the latest audit log entries, without changes of device state */
  events: Array<AuditEntry>
}

export interface GetPlacementQuery {
  /** The application’s ID. Required for operators; applications can omit it. */
  appId?: string | undefined
  /** A device’s serial number, as printed on the device. A serial number has one owner at a time. */
  deviceNo: string
}

export interface GetPriceChangeQuery {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
}

export interface GetReadinessResult {
  /** Whether requests can be served. */
  ready: boolean
  /** The individual checks. */
  checks: Array<{
    /** The name of the account, key, region or check. */
    name: string
    /** Whether the check succeeds. */
    ok: boolean
  }>
  /** whether the service’s database is spread over the nodes of a Citus cluster */
  distributed: boolean
  callbacks: CallbacksSwitch
  /** running and expected workers on this machine (FORECOURT_WORKERS) */
  workers: {
    /** Number of running workers. */
    serving: number
    /** Number of expected workers. */
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
  /** Number of levels to return: 1 to 3. */
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
  /** whether the database is embedded */
  isEmbedded: boolean
  /** whether the database is spread over the nodes of a Citus cluster */
  isDistributed: boolean
  /** When the responding process started. */
  startTime: string
  /** faults first */
  findings: Array<Finding>
  /** the size of the database, over all nodes; null while a node is away */
  databaseBytes: number | null
  /** its growth per day, over the last week; null in the first hours */
  bytesPerDay: number | null
  /** the largest first */
  tables: Array<TableSize>
  /** based on growth over the last week; null while the growth is unknown */
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
  /** the current settings, without secrets; null for non-admins */
  settings: Array<SettingInForce> | null
}

export type GetSessionResult = Session & {
  /** The account: 1 local, 2 created by single sign-on; null for a key. */
  source: 1 | 2 | null
  /** whether the person can sign in with single sign-on */
  isLinked: boolean
  /** whether the person has a password to change */
  hasPassword: boolean
}

export interface GetSettingsResult {
  /** The time zone in which times are shown and read. */
  timeZone: string
  /** the URL of the map tiles, with {z}, {x} and {y}; null if not set */
  mapTileUrl: string | null
  /** required: only serial numbers in the inventory can be created. */
  inventoryPolicy: 'open' | 'required'
  /** A device goes offline after this time without a report. */
  presenceSeconds: number
  /** The coordinate system of all coordinates; nothing is converted. */
  coordinateSystem: 'gcj02' | 'wgs84' | 'bd09'
  /** allow: callbacks may be http and go to private addresses. */
  privateCallbacks: 'refuse' | 'allow'
}

export interface GetSignOnResult {
  /** whether single sign-on is available */
  enabled: boolean
  /** The text on its button. */
  name: string
  /** Who can sign in with a password. */
  passwords: 'everyone' | 'admins'
  /** whether passkeys work at this address */
  passkeys: boolean
}

export interface GetSitePricesQuery {
  /** The application’s ID. Required for operators; applications can omit it. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
  /** The time; default: now. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  time?: string | undefined
}

export interface GetSiteQuery {
  /** The application’s ID. Required for operators; applications can omit it. */
  appId?: string | undefined
  /** The id of the record. */
  id: number
}

export interface GetTemplateQuery {
  /** The kind of the file’s rows. */
  kind: ImportKind
}

export interface GetThirdPartyConfigQuery {
  /** The application’s ID. Required for operators; applications can omit it. */
  appId?: string | undefined
}

/** At least one of the three. Omitted fields stay unchanged at each site; null removes the rule. */
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
  /** The new owner. */
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
  /** What to do with a row that already exists with different content. */
  mode: 'create' | 'upsert'
  /** true: rows are only checked; nothing is written. */
  dryRun: boolean
  status: ImportStatus
  /** Rows in the file. */
  rows: number
  /** Rows that were created. */
  created: number
  /** Rows that already existed with different content and were updated. */
  updated: number
  /** Rows that already existed with the same content. */
  existing: number
  /** Rows that were refused. */
  refused: number
  /** The size of the file in bytes. */
  bytes: number
  /** Bytes processed so far. */
  bytesRead: number
  /** The columns of the file that were ignored: those of exports and of refused rows that an import cannot set, and those of `ignoreColumns`. */
  ignoredColumns: Array<string>
  /** Who acted: application:…, operator:… or operatorKey:…. */
  actor: string
  /** When the record was created. */
  createTime: string
  /** When the import finished; null until then. */
  finishTime: string | null
  /** Why the import failed; null if it didn’t. */
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
  /** Seconds until the token expires. */
  expiresIn: number
}

export interface JobFailure {
  /** Why the job failed. */
  kind: 'accessLost' | 'rowsRefused' | 'attemptsFailed' | 'rowsLost'
  /** Where it stopped: line of the file, serial number or site; null before the first row. */
  place: string | null
  /** For accessLost: the error code that the caller would get now. */
  code: number | null
  /** Number of refused or lost rows, or of failed attempts. */
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
  /** whether the person can sign in: false until the setup link is used */
  isSetUp: boolean
  /** the applications of a developer; empty for the other roles */
  appIds: Array<string>
  /** When the record was created. */
  createTime: string
  /** Time of the last sign-in; null if there was none. */
  signInTime: string | null
  /** 1 local, 2 created by single sign-on. */
  source: 1 | 2
  /** whether the person can sign in by single sign-on */
  isLinked: boolean
  /** whether the account has a passkey or an authenticator app */
  hasSecondFactor: boolean
}

export interface OperatorKey {
  /** The id of the record. */
  id: number
  /** The name of the account, key, region or check. */
  name: string
  /** the key’s current role, never higher than its owner’s */
  role: string
  /** 1 active. 2 inactive: expired, or the owner is disabled or a developer. */
  status: 1 | 2
  /** the account that owns the key; null if it was created with the operator key from the settings */
  operatorId: number | null
  /** The name of the account that owns the key. */
  operatorName: string | null
  /** Who created the key. */
  createdBy: string
  /** When the record was created. */
  createTime: string
  /** When the session or key expires. */
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
  /** When the setup link expires; null without a link. */
  setUpExpireTime: string | null
}

export interface Page {
  /** Number of matching rows, counted up to 10000. */
  total: number
  /** False if more than 10000 rows match. */
  totalIsExact: boolean
  /** The page’s number; null for a page by cursor. */
  pageNo: number | null
  /** Maximum rows per page. */
  pageSize: number
  /** Number of pages of the counted rows. */
  pages: number
  /** The cursor of the next page; null on the last page. */
  nextCursor: string | null
}

export interface PageActsQuery {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** The kind of the rows. */
  kind?: ActKind | undefined
  /** 1 waiting, 2 running, 3 done, 4 failed, 5 cancelled. */
  status?: ActStatus | undefined
  /** Only rows at or after this time. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows at or before this time (the whole second included). yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
}

export interface PageApplicationsQuery {
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** The field to sort by, across all applications. Rows with the same value are sorted by creation time, in the same direction. Default: the list’s own order. */
  sort?: 'createTime' | 'appId' | 'appName' | 'onlineStatus' | 'status' | undefined
  /** Sort direction, only with `sort`: ascending (default) or descending. */
  order?: 'asc' | 'desc' | undefined
  /** The application’s name, for people. */
  appName?: string | undefined
  /** 1 online, 2 offline. */
  onlineStatus?: 1 | 2 | undefined
  /** 1 normal, 2 frozen. */
  status?: 1 | 2 | undefined
}

export interface PageAuditQuery {
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** The id of the application. */
  appId?: string | undefined
  /** the full name of an actor, or a prefix: operator:… or operatorKey:… */
  actor?: string | undefined
  /** The id of the account or key that acted. */
  actorId?: number | undefined
  /** One or more event types, separated by commas; device.* matches all device events. */
  type?: string | undefined
  /** a serial number or an id */
  subject?: string | undefined
  /** Only events with a smaller id. */
  beforeId?: number | undefined
  /** Only rows at or after this time. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows at or before this time (the whole second included). yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
}

export interface PageBillingRulesQuery {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** The field to sort by, across all applications. Rows with the same value are sorted by creation time, in the same direction. Default: the list’s own order. */
  sort?: 'createTime' | 'id' | 'ruleName' | 'ruleType' | undefined
  /** Sort direction, only with `sort`: ascending (default) or descending. */
  order?: 'asc' | 'desc' | undefined
  /** part of the name, not case-sensitive */
  ruleName?: string | undefined
  /** 1 fast charging, 2 slow charging, 3 occupancy. The type of a rule cannot be changed. */
  ruleType?: RuleType | undefined
  /** Only rows at or after this time. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows at or before this time (the whole second included). yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
}

export interface PageDeliveriesQuery {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** 1 pending, 2 delivered, 3 failed. */
  status?: DeliveryStatus | undefined
  /** true: only delivered (2); false: only pending (1) and failed (3). */
  isDelivered?: 'true' | 'false' | undefined
  /** One or more event types, separated by commas; device.* matches all device events. */
  type?: string | undefined
  /** Only the delivery of this event. */
  eventId?: number | undefined
  /** Only rows at or after this time. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows at or before this time (the whole second included). yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
}

export type PageDeliveriesResult = DeliveryPage & {
  /** Number of queued events (without a delivery yet), counted up to 10000; null for several applications. */
  waitingEvents: number | null
  /** time of the oldest queued event */
  waitingSince: string | null
  /** until when the endpoint is paused after failed attempts */
  heldUntil: string | null
  callbacks: CallbacksSwitch
  /** Number of missed events: created while the endpoint was disabled (410), so without a delivery. They are sent only by a replay. In a list, only those in its time range. Counted within the first 2000 events of each of the latest outages; null for several applications. */
  missedEvents: number | null
  /** whether all events of these outages were counted */
  missedIsExact: boolean
  /** time of the oldest missed event */
  missedFrom: string | null
  /** time of the latest missed event */
  missedTo: string | null
}

export interface PageDeviceInventoryQuery {
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** part of the serial number, not case-sensitive */
  deviceNo?: string | undefined
  /** The device’s model; null if unknown. */
  modelName?: string | undefined
}

export interface PageDeviceModelsQuery {
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** The serial prefix of the model; the longest matching prefix applies. */
  serialPrefix?: string | undefined
  /** The device’s model; null if unknown. */
  modelName?: string | undefined
}

export interface PageDevicesQuery {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** The field to sort by, across all applications. Rows with the same value are sorted by creation time, in the same direction. Default: the list’s own order. */
  sort?: 'createTime' | 'deviceNo' | 'deviceName' | 'modelName' | 'provinceCode' | 'cityCode' | 'districtCode' | 'status' | 'onlineStatus' | 'runStatus' | undefined
  /** Sort direction, only with `sort`: ascending (default) or descending. */
  order?: 'asc' | 'desc' | undefined
  /** part of the serial number, not case-sensitive */
  deviceNo?: string | undefined
  /** part of the name, not case-sensitive */
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
  /** 1 normal, 2 faulty. */
  status?: DeviceStatus | undefined
  /** 1 online, 2 offline. */
  onlineStatus?: OnlineStatus | undefined
  /** 0 closed, 1 open, 2 stopped. */
  runStatus?: RunStatus | undefined
  /** Only devices at this site. */
  siteId?: number | undefined
  /** true: only devices at a site; false: only devices without a site. */
  isPlaced?: 'true' | 'false' | undefined
  /** Only rows at or after this time. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows at or before this time (the whole second included). yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
  /** Only devices with a last report at or after this time. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  lastReportFrom?: string | undefined
  /** Only devices with a last report at or before this time (the whole second included). yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  lastReportTo?: string | undefined
  /** true: only devices that have reported; false: only devices that have never reported. */
  hasReported?: 'true' | 'false' | undefined
  /** A map area: minLng,minLat,maxLng,maxLat in decimal degrees, edges included. Minimums can’t exceed maximums. */
  bbox?: string | undefined
}

export interface PageEventsQuery {
  /** The application’s ID. Required for operators; applications can omit it. */
  appId?: string | undefined
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** Only events with a larger id, which are newer. */
  afterId?: number | undefined
  /** Only events with a smaller id. */
  beforeId?: number | undefined
  /** asc: oldest first (the default); desc: newest first. */
  order?: 'asc' | 'desc' | undefined
  /** One or more event types, separated by commas; device.* matches all device events. */
  type?: string | undefined
  /** Only rows at or after this time. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows at or before this time (the whole second included). yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
  /** The device’s serial number. */
  deviceNo?: string | undefined
  /** Only rows about this site. */
  siteId?: number | undefined
  /** Only rows about this billing rule. */
  billingRuleId?: number | undefined
}

export interface PageImportsQuery {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** The kind of the file’s rows. */
  kind?: ImportKind | undefined
  /** 1 waiting, 2 running, 3 done, 4 failed, 5 cancelled. */
  status?: ImportStatus | undefined
  /** Only rows at or after this time. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows at or before this time (the whole second included). yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
}

export interface PageOperatorKeysQuery {
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** Only the keys of this account. */
  operatorId?: number | undefined
}

export interface PageOperatorsQuery {
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
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
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
}

export interface PagePlacementHistoryQuery {
  /** The application’s ID. Required for operators; applications can omit it. */
  appId?: string | undefined
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** The device; send either this or `siteId`. */
  deviceNo?: string | undefined
  /** The site; send either this or `deviceNo`. */
  siteId?: number | undefined
}

export interface PagePlacementsQuery {
  /** The application’s ID. Required for operators; applications can omit it. */
  appId?: string | undefined
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** Only rows about this site. */
  siteId?: number | undefined
  /** part of the serial number, not case-sensitive */
  deviceNo?: string | undefined
  /** 1 to 100 serial numbers, separated by commas. Serial numbers that contain a comma can’t be used here. */
  deviceNos?: string | undefined
  /** 1 entrance, 2 exit, 3 both, 4 door. */
  laneType?: LaneType | undefined
  /** 1 normal, 2 faulty. */
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
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** 1 scheduled, 2 applied, 3 cancelled. */
  status?: PriceChangeStatus | undefined
  /** Only changes of this rule’s pricing, or that assign this rule to sites. */
  billingRuleId?: number | undefined
  /** Only changes of the rules of this site; a cancelled one is in none. */
  siteId?: number | undefined
  /** Only undos of these price changes: 1 to 100 IDs, separated by commas. */
  undoOf?: string | undefined
  /** Only changes that take effect at or after this time. */
  timeFrom?: string | undefined
  /** Only changes that take effect at or before this time (the whole second included). */
  timeTo?: string | undefined
}

export interface PageRefusalsQuery {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** The field to sort by, across all applications. Rows with the same value are sorted by creation time, in the same direction. Default: the list’s own order. */
  sort?: 'time' | undefined
  /** Sort direction, only with `sort`: ascending (default) or descending. */
  order?: 'asc' | 'desc' | undefined
  /** Only rows at or after this time. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows at or before this time (the whole second included). yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
  /** The error code. */
  code?: number | undefined
  /** the id of an operation */
  operation?: string | undefined
  /** part of the serial number, not case-sensitive */
  deviceNo?: string | undefined
  /** a whole serial number, the id of a site or a rule, or a new site’s name */
  subject?: string | undefined
  /** the `X-Request-Id` of a response */
  requestId?: string | undefined
}

export interface PageRegionsQuery {
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** The beginning of the codes. */
  code?: string | undefined
  /** A part of the name, upper or lower case. */
  name?: string | undefined
}

export interface PageSessionsQuery {
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** Only the sessions of this account. */
  operatorId?: number | undefined
}

export interface PageSitesQuery {
  /** The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications. */
  appId?: string | undefined
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
  cursor?: string | undefined
  /** The field to sort by, across all applications. Rows with the same value are sorted by creation time, in the same direction. Default: the list’s own order. */
  sort?: 'createTime' | 'id' | 'siteName' | 'provinceCode' | 'cityCode' | 'districtCode' | undefined
  /** Sort direction, only with `sort`: ascending (default) or descending. */
  order?: 'asc' | 'desc' | undefined
  /** part of the name, not case-sensitive */
  siteName?: string | undefined
  /** part of the contact person’s name, not case-sensitive */
  contacts?: string | undefined
  /** The province’s code. */
  provinceCode?: string | undefined
  /** The city’s code. */
  cityCode?: string | undefined
  /** The district’s code. */
  districtCode?: string | undefined
  /** Only rows about this billing rule. */
  billingRuleId?: number | undefined
  /** true: only sites with devices; false: only sites without devices. */
  hasDevices?: 'true' | 'false' | undefined
  /** Only rows at or after this time. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | undefined
  /** Only rows at or before this time (the whole second included). yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | undefined
  /** A map area: minLng,minLat,maxLng,maxLat in decimal degrees, edges included. Minimums can’t exceed maximums. */
  bbox?: string | undefined
}

export interface PageViewsQuery {
  /** The console list that the view belongs to. */
  page?: 'applications' | 'sites' | 'devices' | 'billingRules' | 'priceChanges' | 'models' | 'inventory' | 'regions' | 'imports' | 'acts' | 'events' | 'audit' | 'deliveries' | 'refusals' | 'operators' | undefined
  /** The account; default: your own. */
  operatorId?: number | undefined
  /** Page number, starting at 1 (default). `pageNo` × `pageSize` can be up to 100000; to go further, use `cursor`. */
  pageNo?: number | undefined
  /** Rows per page; default 10. */
  pageSize?: number | undefined
  /** The `nextCursor` of the previous page. Send it with the same filters and without `pageNo`. Pages at any depth take the same time, and rows that exist throughout are never skipped. */
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
  /** Status note from the device. */
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
  /** The ID of the device’s site. */
  siteId: number
  /** The site’s name; after the end, the name at that time. */
  siteName: string
  laneType: LaneType
  /** The name of the lane, as used on site. */
  laneName: string | null
  /** When the device was added to the site; changing the lane doesn’t change this. */
  placedTime: string
  /** Who added the device to the site. */
  placedBy: string
  /** When the placement ended; null if it is current. */
  removedTime: string | null
  /** Who ended the placement; null if it is current. */
  removedBy: string | null
  /** Why the placement ended; null without a reason. */
  reason: string | null
}

export interface PlacementBatchRow {
  deviceNo: string
  /** The ID of the device’s site. */
  siteId: number
  laneType: LaneType
  /** The name of the lane, as used on site. */
  laneName?: string | null | undefined
}

export type PlacementCallback = Callback & {
  /** What happened. */
  type: 'device.placed' | 'device.unplaced'
  data: Placement
}

export interface PlacementDone {
  /** The value that identifies the row; null if the row has none. */
  deviceNo: string | null
  /** 0: success. */
  code: 0
  /** Message: success, or why the row was refused. */
  msg: string
  /** The record, as returned by the operation for a single row. */
  data: Placement
}

export type PlacementEvent = EventHead & {
  /** What happened. */
  type: 'device.placed' | 'device.unplaced'
  /** The record, as returned by its detail operation. */
  data: Placement
}

export interface PlacementOutcomes {
  /** One result per row, in order. */
  results: Array<PlacementDone | PlacementRefused>
}

export type PlacementPage = Page & {
  /** The rows of this page. */
  list: Array<Placement>
}

export interface PlacementRefused {
  /** The value that identifies the row; null if the row has none. */
  deviceNo: string | null
  /** The error code: why the row was refused. */
  code: RefusalCode
  /** Message: success, or why the row was refused. */
  msg: string
  /** The invalid fields of the row; null if there are none. */
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
  /** Number of devices at the site. */
  devices: number
  /** Number of devices that are online. */
  online: number
  /** Number of devices that are offline. */
  offline: number
  /** Number of faulty devices. */
  fault: number
  /** How many of them are open (`runStatus` 1). */
  open: number
  /** How many of them are closed (`runStatus` 0). */
  closed: number
  /** How many of them are stopped (`runStatus` 2). */
  stopped: number
  /** Number of devices in an entrance lane, or a lane for both. */
  entrances: number
  /** Number of devices in an exit lane, or a lane for both. */
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
  /** number of pending deliveries, counted up to 100000 */
  callbacksWaiting: number
  /** number of failed deliveries, without tests, counted up to 100000 */
  callbacksDead: number
  /** number of applications whose endpoint is paused after repeated failures */
  callbacksHeld: number
  /** number of queued events, counted up to 100000 for paused endpoints and up to 100000 for the others */
  eventsWaiting: number
  /** number of applications whose endpoint is disabled (410) */
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
  /** the rule that gets new pricing; null for a change of rules at sites */
  billingRuleId: number | null
  /** For types 1 and 2: the prices by the time of day, in ascending order, the first at 00:00:00. */
  periods: Array<Period> | null
  /** For type 3: free minutes after charging. */
  freeMinutes: number | null
  /** For type 3: length of a billing unit in minutes. Each started unit costs `unitPrice`. */
  unitMinutes: number | null
  /** For type 3: the price of one unit, in yuan. */
  unitPrice: string | null
  /** For type 3: maximum charge per day, in yuan; null for no limit. */
  dailyCap: string | null
  /** The rules that the sites get. */
  rules: GivenRules | null
  /** number of sites that get other rules, without sites deleted since; of a cancelled one, its number when it was cancelled */
  siteCount: number | null
  /** for an undo: number of sites that aren’t restored */
  skippedCount: number | null
  /** The reason. */
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
  /** The record, as returned by its detail operation. */
  data: PriceChange
}

export type PriceChangePage = Page & {
  /** The rows of this page. */
  list: Array<PriceChange>
}

/** 1 scheduled, 2 applied, 3 cancelled. */
export type PriceChangeStatus = 1 | 2 | 3

export interface PriceInForce {
  /** The rule that the site uses at that time. */
  billingRuleId: number
  /** The rule’s present name; for a deleted rule, its last name. */
  ruleName: string
  /** For types 1 and 2: the prices by the time of day, in ascending order, the first at 00:00:00. */
  periods: Array<Period> | null
  /** The period of `periods` that covers that time of day. */
  period: Period | null
  /** For type 3: free minutes after charging. */
  freeMinutes: number | null
  /** For type 3: length of a billing unit in minutes. Each started unit costs `unitPrice`. */
  unitMinutes: number | null
  /** For type 3: the price of one unit, in yuan. */
  unitPrice: string | null
  /** For type 3: maximum charge per day, in yuan; null for no limit. */
  dailyCap: string | null
  /** Since when this pricing is in effect at this site. */
  sinceTime: string
  /** The instant of `sinceTime` in RFC 3339. */
  sinceAt: string
  /** Until when this pricing is in effect at this site; null if no price change is scheduled. */
  untilTime: string | null
  /** The instant of `untilTime` in RFC 3339. */
  untilAt: string | null
  /** the price change that set this pricing; null if it was set with the site or rule, or by an update */
  priceChangeId: number | null
}

/** The error code. */
export type RefusalCode = 10001 | 10002 | 10003 | 10004 | 10005 | 10006 | 10007 | 10008 | 10009 | 10030 | 10031 | 10032 | 10033 | 10034 | 10035 | 10040 | 10041 | 10042 | 10050 | 10051 | 10052 | 10053 | 10054 | 10055 | 10056 | 10057 | 10060 | 10061 | 10062 | 10063 | 10064 | 10065 | 10066 | 10070 | 10071 | 20002 | 20013 | 20014 | 20017 | 20021 | 20022 | 20030 | 30002 | 30003 | 40002 | 40003 | 40004 | 40005 | 40006 | 40007 | 49999 | 50003 | 60002 | 60003 | 70002 | 70003 | 70004

export interface RefusedWrite {
  time: string
  /** the `X-Request-Id` of the response */
  requestId: string
  /** null for an operator’s request without an application; only operators see these */
  appId: string | null
  /** The id of the operation that was called. */
  operation: string
  /** The error code. */
  code: number
  /** the name of the error code */
  name: 'invalidRequest' | 'tokenInvalid' | 'notPermitted' | 'applicationNotFound' | 'applicationFrozen' | 'applicationOffline' | 'tooManyRequests' | 'idempotencyKeyReused' | 'preconditionFailed' | 'clientInvalid' | 'signInFailed' | 'secondFactorRequired' | 'codeInvalid' | 'secondFactorSetUpRequired' | 'confirmationRequired' | 'operatorNotFound' | 'operatorNameTaken' | 'setUpLinkInvalid' | 'sessionNotFound' | 'lastAdmin' | 'operatorKeyNotFound' | 'secondFactorNotFound' | 'lastSecondFactor' | 'signOnOff' | 'signOnFailed' | 'signOnRefused' | 'signOnUnavailable' | 'signOnLinked' | 'managedBySignOn' | 'passwordSignInOff' | 'viewNotFound' | 'viewNameTaken' | 'regionNotFound' | 'regionInUse' | 'callbackMissing' | 'deviceNotFound' | 'deviceBoundElsewhere' | 'deviceUnknown' | 'deviceAlreadyYours' | 'deviceModelNotFound' | 'inventoryEntryNotFound' | 'placementNotFound' | 'siteNotFound' | 'thirdPartyConfigMissing' | 'billingRuleNotFound' | 'billingRuleWrongType' | 'billingRuleInUse' | 'priceChangeNotFound' | 'priceChangeWrongState' | 'priceChangeClash' | 'eventNotFound' | 'deliveryNotFound' | 'importNotFound' | 'importRunning' | 'rowsChanged' | 'internalFault' | 'unavailable'
  /** All invalid fields, up to 1000. */
  errors: Array<FieldFault> | null
  /** the subject: a serial number, the ID of a site or rule, or the name of a record to be created */
  subject: string | null
  /** the caller: application:…, operator:… or operatorKey:… */
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
  /** The reason. */
  reason?: string | null | undefined
}

export interface RemovePlacementsRequest {
  appId?: string | null | undefined
  /** The serial numbers of the devices. */
  deviceNos: Array<string>
  /** The reason. */
  reason?: string | null | undefined
}

export type RenewRecoveryCodesRequest = Record<never, never>

export interface RenewRecoveryCodesResult {
  /** Ten recovery codes. Each works once. Shown only once, with the first factor; null otherwise. */
  recoveryCodes: Array<string> | null
}

export interface ReplayDeliveriesRequest {
  appId?: string | null | undefined
  /** The id of the record. */
  id?: number | null | undefined
  /** Only rows at or after this time. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeFrom?: string | null | undefined
  /** Only rows at or before this time (the whole second included). yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  timeTo?: string | null | undefined
  /** 1 pending, 2 delivered, 3 failed. */
  status?: DeliveryStatus | null | undefined
  /** false: only undelivered events: pending and failed deliveries, and missed events. */
  isDelivered?: boolean | null | undefined
}

export interface ReplayDeliveriesResult {
  /** number of deliveries that will be replayed */
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
  /** The reason. */
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

/** admin: everything; operator: everything except accounts and keys; viewer: read-only; developer: own applications only. */
export type Role = 'admin' | 'operator' | 'viewer' | 'developer'

export interface RotateApplicationSecretRequest {
  appId?: string | null | undefined
  /** How long the old secret and its tokens stay valid, in seconds; default 0. */
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
  /** For type 3: free minutes after charging. */
  freeMinutes?: number | null | undefined
  /** For type 3: length of a billing unit in minutes. Each started unit costs `unitPrice`. */
  unitMinutes?: number | null | undefined
  /** For type 3: the price of one unit, in yuan. */
  unitPrice?: string | null | undefined
  /** For type 3: maximum charge per day, in yuan; null for no limit. */
  dailyCap?: string | null | undefined
}

export interface SaveDeviceModelRequest {
  /** The serial prefix of the model; the longest matching prefix applies. */
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
  /** The ticket from the options. Works once, for 5 minutes. */
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
  /** The callback URL: https, or http if the settings allow it. The query is stored encrypted. The application and admins see it in full; other callers and events see `?…` instead. To keep the stored query, send `?…` back. */
  callbackUrl?: string | null | undefined
  /** The types of event that are sent. */
  callbackEvents?: Array<EventType> | null | undefined
}

export interface SaveTotpRequest {
  /** A 6-digit code from the authenticator app, or a recovery code. */
  code: string
}

export interface SaveViewRequest {
  /** The view to update; without it, the name decides. */
  id?: number | null | undefined
  /** The console list that the view belongs to. */
  page: 'applications' | 'sites' | 'devices' | 'billingRules' | 'priceChanges' | 'models' | 'inventory' | 'regions' | 'imports' | 'acts' | 'events' | 'audit' | 'deliveries' | 'refusals' | 'operators'
  name: string
  /** Filters, order and page size, as in the address of the list. */
  query?: string | null | undefined
  /** The selected columns, in the list’s format. */
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
  /** When it takes effect: in whole seconds, in the future, at most 731 days ahead. yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B. */
  effectiveTime: string
  /** The reason. */
  reason?: string | null | undefined
  /** true: returns what would be scheduled, with `id` null, without writing anything. */
  dryRun?: boolean | null | undefined
  /** The billing rule that gets new pricing. */
  billingRuleId?: number | null | undefined
  /** For types 1 and 2: the prices by the time of day, in ascending order, the first at 00:00:00. */
  periods?: Array<Period> | null | undefined
  /** For type 3: free minutes after charging. */
  freeMinutes?: number | null | undefined
  /** For type 3: length of a billing unit in minutes. Each started unit costs `unitPrice`. */
  unitMinutes?: number | null | undefined
  /** For type 3: the price of one unit, in yuan. */
  unitPrice?: string | null | undefined
  /** For type 3: maximum charge per day, in yuan; null for no limit. */
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
  /** the rule that gets new pricing; null for a change of rules at sites */
  billingRuleId: number | null
  /** For types 1 and 2: the prices by the time of day, in ascending order, the first at 00:00:00. */
  periods: Array<Period> | null
  /** For type 3: free minutes after charging. */
  freeMinutes: number | null
  /** For type 3: length of a billing unit in minutes. Each started unit costs `unitPrice`. */
  unitMinutes: number | null
  /** For type 3: the price of one unit, in yuan. */
  unitPrice: string | null
  /** For type 3: maximum charge per day, in yuan; null for no limit. */
  dailyCap: string | null
  /** The rules that the sites get. */
  rules: GivenRules | null
  /** number of sites that get other rules, without sites deleted since; of a cancelled one, its number when it was cancelled */
  siteCount: number | null
  /** for an undo: number of sites that aren’t restored */
  skippedCount: number | null
  /** The reason. */
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
  /** The results by kind; within a kind, exact matches first. */
  list: Array<Found>
}

export interface SecondFactors {
  /** whether the role asks for a second factor */
  isRequired: boolean
  /** The authenticator app; null if there is none. */
  totp: {
    /** When the record was created. */
    createTime: string
    /** When the key was last used, to about a minute; null before its first use. */
    lastUseTime: string | null
  } | null
  /** The passkeys, oldest first. */
  passkeys: Array<Passkey>
  /** number of unused recovery codes */
  recoveryCodesLeft: number
}

export interface SecondFactorsWithCodes {
  /** whether the role asks for a second factor */
  isRequired: boolean
  /** The authenticator app; null if there is none. */
  totp: {
    /** When the record was created. */
    createTime: string
    /** When the key was last used, to about a minute; null before its first use. */
    lastUseTime: string | null
  } | null
  /** The passkeys, oldest first. */
  passkeys: Array<Passkey>
  /** number of unused recovery codes */
  recoveryCodesLeft: number
  /** Ten recovery codes. Each works once. Shown only once, with the first factor; null otherwise. */
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
  /** the applications of a developer; null for callers with access to all applications */
  appIds: Array<string> | null
  /** The browser that signed in. */
  userAgent: string | null
  /** the address that the sign-in came from */
  address: string | null
  /** When the record was created. */
  createTime: string | null
  /** When the session was last used. */
  seenTime: string | null
  /** When the session or key expires. */
  expireTime: string | null
  /** How the person signed in; null without a session. */
  method: 'password' | 'password+code' | 'passkey' | 'signOn' | 'signOn+code' | 'signOn+passkey' | 'operatorKey' | null
  /** whether the session must set up or confirm a second factor before anything else */
  isLimited: boolean
  /** until when the last identity confirmation is valid; null for a bearer key, which needs none */
  confirmedUntil: string | null
}

export type SessionPage = Page & {
  /** The rows of this page. */
  list: Array<Session>
}

export interface SetUpOperatorRequest {
  /** The token at the end of the setup link. */
  setUpToken: string
  /** The current password. */
  password: string
  /** The name of the account, key, region or check. */
  name?: string | null | undefined
  /** A 6-digit code from the authenticator app, or a recovery code. */
  code?: string | null | undefined
}

export interface SettingInForce {
  /** the setting’s name */
  name: string
  /** the value, as it would be set; null if there is none, and for a secret */
  value: string | null
  /** whether its value is secret and never shown */
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
  /** The opening days, as free text. */
  businessWeekDay: string
  /** When the site opens, HH:mm:ss. */
  businessStartTime: string
  /** When the site closes, HH:mm:ss or 24:00:00; a time before the opening time is past midnight. */
  businessClosingTime: string
  /** URLs of site pictures, separated by commas. */
  sitePictureUrl: string | null
  /** The id of the billing rule for fast charging, which has type 1. */
  fastChargeBillRuleId: number | null
  /** The id of the billing rule for slow charging (“rushing”), which has type 2. */
  rushingBillRuleId: number | null
  /** The id of the billing rule for occupancy (“placeholder”), which has type 3. */
  placeholderBillRuleId: number | null
  /** IDs of the site’s network cameras (IPC), separated by commas. */
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
  /** The opening days, as free text. */
  businessWeekDay: string
  /** When the site opens, HH:mm:ss. */
  businessStartTime: string
  /** Closing time, HH:mm:ss or 24:00:00. A time before the opening time means the next day. */
  businessClosingTime: string
  /** URLs of site pictures, separated by commas. */
  sitePictureUrl?: string | null | undefined
  /** The id of the billing rule for fast charging, which has type 1. */
  fastChargeBillRuleId?: number | null | undefined
  /** The id of the billing rule for slow charging (“rushing”), which has type 2. */
  rushingBillRuleId?: number | null | undefined
  /** The id of the billing rule for occupancy (“placeholder”), which has type 3. */
  placeholderBillRuleId?: number | null | undefined
  /** IDs of the site’s network cameras (IPC), separated by commas. */
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
  /** The opening days, as free text. */
  businessWeekDay?: string | undefined
  /** When the site opens, HH:mm:ss. */
  businessStartTime?: string | undefined
  /** Closing time, HH:mm:ss or 24:00:00. A time before the opening time means the next day. */
  businessClosingTime?: string | undefined
  /** URLs of site pictures, separated by commas. */
  sitePictureUrl?: string | null | undefined
  /** The id of the billing rule for fast charging, which has type 1. */
  fastChargeBillRuleId?: number | null | undefined
  /** The id of the billing rule for slow charging (“rushing”), which has type 2. */
  rushingBillRuleId?: number | null | undefined
  /** The id of the billing rule for occupancy (“placeholder”), which has type 3. */
  placeholderBillRuleId?: number | null | undefined
  /** IDs of the site’s network cameras (IPC), separated by commas. */
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
  /** The value that identifies the row; null if the row has none. */
  siteName: string | null
  /** 0: success. */
  code: 0
  /** Message: success, or why the row was refused. */
  msg: string
  /** The record, as returned by the operation for a single row. */
  data: Site
}

export type SiteEvent = EventHead & {
  /** What happened. */
  type: 'site.created' | 'site.updated' | 'site.deleted'
  /** The record, as returned by its detail operation. */
  data: Site
}

export interface SiteOutcomes {
  /** One result per row, in order. */
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
  /** The time at which these rules are in effect. */
  time: string
  /** The instant of `time` in RFC 3339. */
  at: string
  /** Fast charging; null without a rule. */
  fast: PriceInForce | null
  /** Slow charging; null for no rule. */
  slow: PriceInForce | null
  /** Occupancy; null for no rule. */
  occupancy: PriceInForce | null
}

export interface SiteRefused {
  /** The value that identifies the row; null if the row has none. */
  siteName: string | null
  /** The error code: why the row was refused. */
  code: RefusalCode
  /** Message: success, or why the row was refused. */
  msg: string
  /** The invalid fields of the row; null if there are none. */
  data: FieldFaults | null
}

export type SiteRegistration = SiteBatchRow & {
  appId: string
}

export interface SiteUpdateDone {
  /** The value that identifies the row; null if the row has none. */
  id: number | null
  /** 0: success. */
  code: 0
  /** Message: success, or why the row was refused. */
  msg: string
  /** The record, as returned by the operation for a single row. */
  data: Site
}

export interface SiteUpdateOutcomes {
  /** One result per row, in order. */
  results: Array<SiteUpdateDone | SiteUpdateRefused>
}

export interface SiteUpdateRefused {
  /** The value that identifies the row; null if the row has none. */
  id: number | null
  /** The error code: why the row was refused. */
  code: RefusalCode
  /** Message: success, or why the row was refused. */
  msg: string
  /** The invalid fields of the row; null if there are none. */
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
  /** The opening days, as free text. */
  businessWeekDay?: string | undefined
  /** When the site opens, HH:mm:ss. */
  businessStartTime?: string | undefined
  /** Closing time, HH:mm:ss or 24:00:00. A time before the opening time means the next day. */
  businessClosingTime?: string | undefined
  /** URLs of site pictures, separated by commas. */
  sitePictureUrl?: string | null | undefined
  /** The id of the billing rule for fast charging, which has type 1. */
  fastChargeBillRuleId?: number | null | undefined
  /** The id of the billing rule for slow charging (“rushing”), which has type 2. */
  rushingBillRuleId?: number | null | undefined
  /** The id of the billing rule for occupancy (“placeholder”), which has type 3. */
  placeholderBillRuleId?: number | null | undefined
  /** IDs of the site’s network cameras (IPC), separated by commas. */
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
  /** The ticket from the options. Works once, for 5 minutes. */
  ticket: string
}

export type StartPasskeySessionRequest = Record<never, never>

export interface StartPasskeySessionResult {
  /** The options for `navigator.credentials.get`, as JSON. */
  options: Record<string, unknown>
  /** The ticket from the options. Works once, for 5 minutes. */
  ticket: string
}

export interface StartSignOnRequest {
  /** What the sign-on is for. */
  purpose: 'signIn' | 'setUp' | 'link' | 'confirm'
  /** The token at the end of the setup link. */
  setUpToken?: string | null | undefined
  /** The path of the console to which the browser returns. */
  returnTo?: string | null | undefined
}

export interface StartSignOnResult {
  /** The URL at the identity provider. */
  authorizationUrl: string
}

export type StartTotpRequest = Record<never, never>

export interface StartTotpResult {
  /** The secret in base32; shown once. */
  secret: string
  /** The secret as a URL for a QR code. */
  otpauthUrl: string
}

export interface StateReport {
  deviceNo: string
  /** When the device was in this state: RFC 3339, at most 60 seconds in the future. A report older than the latest one changes nothing. A report without this time counts as the latest. */
  reportTime?: string | null | undefined
  /** 1 normal, 2 faulty. */
  status?: DeviceStatus | null | undefined
  /** 1 online, 2 offline. */
  onlineStatus?: OnlineStatus | null | undefined
  /** 0 closed, 1 open, 2 stopped. */
  runStatus?: RunStatus | null | undefined
  /** Status note from the device. */
  statusRemark?: string | null | undefined
  /** The version of the device’s firmware. */
  version?: string | null | undefined
  /** The battery’s status, as the device numbers it. */
  batteryStatus?: number | null | undefined
  /** the battery’s charge, as a percentage, for example 87% */
  batteryEnergy?: string | null | undefined
}

export interface StreamEventsQuery {
  /** The application’s ID. Required for operators; applications can omit it. */
  appId?: string | undefined
  /** One or more event types, separated by commas; device.* matches all device events. */
  type?: string | undefined
  /** The device’s serial number. */
  deviceNo?: string | undefined
  /** Only rows about this site. */
  siteId?: number | undefined
  /** Only events with a larger id, which are newer. */
  afterId?: number | undefined
}

export interface SuggestPlacementsQuery {
  /** The application’s ID. Required for operators; applications can omit it. */
  appId?: string | undefined
  /** The site; send either this or `deviceNo`. */
  siteId?: number | undefined
  /** The device; send either this or `siteId`. */
  deviceNo?: string | undefined
  /** Maximum distance between device and site, in meters; default 500. */
  meters?: number | undefined
}

export interface SuggestPlacementsResult {
  /** The rows, in order. */
  list: Array<PlacementSuggestion>
}

export interface SummarizePlacementsQuery {
  /** The application’s ID. Required for operators; applications can omit it. */
  appId?: string | undefined
  /** 1 to 100 site IDs, separated by commas. */
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
  /** the callback URL; callers that may not read its query see `?…` instead */
  callbackUrl: string | null
  /** The types of event that are sent. */
  callbackEvents: Array<EventType>
  /** shown only once, when the secret is created or rotated; null afterwards */
  callbackSecret: string | null
  /** when the endpoint responded with 410 and was disabled; saving the configuration enables it again */
  callbackStopTime: string | null
  /** Why the endpoint is disabled. */
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
  /** The record, as returned by its detail operation. */
  data: ThirdPartyConfig
}

export interface TransferDeviceRequest {
  deviceNo: string
  /** The application that gets the device. */
  targetAppId: string
  /** The reason. */
  reason: string
}

export interface TransferDevicesRequest {
  /** The serial numbers of the devices. */
  deviceNos: Array<string>
  /** The application that gets the device. */
  targetAppId: string
  /** The reason. */
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
  /** The record, as returned by its detail operation. */
  data: TransferredDevice
}

export interface Trouble {
  appId: string
  /** The application’s name, for people. */
  appName: string
  /** How many devices report a fault. */
  devicesFaulty: number
  /** Number of failed deliveries. */
  callbacksDead: number
  /** Whether the endpoint is disabled (410). */
  isCallbackStopped: boolean
  /** since when all attempts have failed; null after fewer than 3 failures in a row, and while the endpoint is disabled */
  callbackFailingSince: string | null
  /** why the latest attempt failed */
  callbackFailingReason: string | null
}

export interface UnbindDeviceRequest {
  appId?: string | null | undefined
  deviceNo: string
  /** The reason. */
  reason?: string | null | undefined
}

export interface UnbindDevicesRequest {
  appId?: string | null | undefined
  /** The serial numbers of the devices. */
  deviceNos: Array<string>
  /** The reason. */
  reason?: string | null | undefined
}

export interface UndoPriceChangeRequest {
  appId?: string | null | undefined
  /** The id of the record. */
  id: number
  /** The reason. */
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
  /** Status note from the device. */
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
  /** Token lifetime in seconds; default 7200. */
  tokenLifetimeSeconds?: number | null | undefined
  /** maximum requests per second, across all processes of a machine; default 1000, null for no limit */
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
  /** For type 3: free minutes after charging. */
  freeMinutes?: number | null | undefined
  /** For type 3: length of a billing unit in minutes. Each started unit costs `unitPrice`. */
  unitMinutes?: number | null | undefined
  /** For type 3: the price of one unit, in yuan. */
  unitPrice?: string | null | undefined
  /** For type 3: maximum charge per day, in yuan; null for no limit. */
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
  /** The account that gets the keys and saved views: another active account, which can’t be a developer if there are keys. */
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
  /** The console list that the view belongs to. */
  page: 'applications' | 'sites' | 'devices' | 'billingRules' | 'priceChanges' | 'models' | 'inventory' | 'regions' | 'imports' | 'acts' | 'events' | 'audit' | 'deliveries' | 'refusals' | 'operators'
  /** The name of the view. */
  name: string
  /** Filters, order and page size, as in the address of the list. */
  query: string | null
  /** The selected columns, in the list’s format. */
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
  /** Returns the OAuth authorization server metadata (RFC 8414). */
  getAuthorizationServer: Method<Record<never, never>, GetAuthorizationServerResult>
  /** Creates a charging site. Each call creates a new site. The application must have a third-party configuration. */
  saveSite: Method<SiteRegistration, Site>
  /** Creates up to 1000 sites. Returns one result per row, in order. A refused row doesn’t affect the others. */
  saveSites: Method<SaveSitesRequest, SiteOutcomes>
  /** Updates the fields that you send of a site; null clears an optional field. */
  updateSite: Method<UpdateSiteRequest, Site>
  /** Updates up to 1000 sites. Returns one result per row, in order. A refused row doesn’t affect the others. */
  updateSites: Method<UpdateSitesRequest, SiteUpdateOutcomes>
  /** Deletes a site and returns its last state. */
  deleteSite: Method<DeleteSiteRequest, Site>
  /** Returns one site. */
  getSite: Method<GetSiteQuery, Site>
  /** Lists sites, newest first. Without `sort`, the sites of several applications are grouped by `appId`. */
  pageSites: PageMethod<PageSitesQuery, SitePage>
  /** Returns the billing rules and pricing in effect at a site at a given time, exact to the second: fast charging, slow charging and occupancy. For a future time, scheduled price changes are included. */
  getSitePrices: Method<GetSitePricesQuery, SitePrices>
  /** Creates a billing rule. Types 1 and 2 take periods; type 3 takes minutes and prices. */
  saveBillingRule: Method<SaveBillingRuleRequest, BillingRule>
  /** Updates the fields that you send of a billing rule; null clears a field. The type can’t be changed. */
  updateBillingRule: Method<UpdateBillingRuleRequest, BillingRule>
  /** Deletes a billing rule and returns its last state. Refused while a site uses it or a scheduled price change assigns it to sites. */
  deleteBillingRule: Method<DeleteBillingRuleRequest, BillingRule>
  /** Returns one billing rule. */
  getBillingRule: Method<GetBillingRuleQuery, BillingRule>
  /** Lists billing rules, newest first. Without `sort`, the rules of several applications are grouped by `appId`. */
  pageBillingRules: PageMethod<PageBillingRulesQuery, BillingRulePage>
  /** Schedules a price change: new pricing for a billing rule (`billingRuleId` and its complete pricing), or other billing rules for sites (`sites` and `rules`). It takes effect exactly at `effectiveTime`. */
  schedulePriceChange: Method<SchedulePriceChangeRequest, ScheduledPriceChange>
  /** Cancels a scheduled price change. Refused once it has taken effect. */
  cancelPriceChange: Method<CancelPriceChangeRequest, PriceChange>
  /** Undoes an applied price change immediately, as a new price change (`undoOf`). Restores the rule’s previous pricing if the rule still has the pricing of this change, or the previous rules of each site that still has the rules of this change. */
  undoPriceChange: Method<UndoPriceChangeRequest, PriceChange>
  /** Returns one price change. */
  getPriceChange: Method<GetPriceChangeQuery, PriceChange>
  /** Lists price changes, latest `effectiveTime` first. Price changes of several applications are grouped by `appId`. */
  pagePriceChanges: PageMethod<PagePriceChangesQuery, PriceChangePage>
  /** Creates or replaces the third-party configuration of an application. */
  saveThirdPartyConfig: Method<SaveThirdPartyConfigRequest, ThirdPartyConfig>
  /** Returns the third-party configuration of an application. */
  getThirdPartyConfig: Method<GetThirdPartyConfigQuery, ThirdPartyConfig>
  /** Rotates the callback secret and returns the new one once. For 24 hours, callbacks are signed with both secrets. */
  rotateCallbackSecret: Method<RotateCallbackSecretRequest, ThirdPartyConfig>
  /** Creates an entrance device and binds its serial number to an application. The default province is 360000, the default city 360100. */
  createDevice: Method<DeviceRegistration, Device>
  /** Creates up to 1000 devices. Returns one result per row, in order. A refused row doesn’t affect the others. */
  createDevices: Method<CreateDevicesRequest, DeviceOutcomes>
  /** Updates the fields that you send of a device; null clears an optional field or restores its default. */
  updateDevice: Method<UpdateDeviceRequest, Device>
  /** Updates up to 1000 devices. Returns one result per row, in order. A refused row doesn’t affect the others. */
  updateDevices: Method<UpdateDevicesRequest, DeviceOutcomes>
  /** Returns one device. Reported state doesn’t affect the `ETag`. */
  getDevice: Method<GetDeviceQuery, Device>
  /** Lists devices, newest first. Without `sort`, the devices of several applications are grouped by `appId`. */
  pageDevices: PageMethod<PageDevicesQuery, DevicePage>
  /** Reports a device’s state. Only the fields that you send change; null clears the status note, the version and the battery fields. Any report, even an empty one, sets the device online, unless it says that the device is offline. */
  reportDeviceState: Method<ReportDeviceStateRequest, Device>
  /** Reports the states of up to 1000 devices. Returns one result per report, in order. A refused report doesn’t affect the others. */
  reportDeviceStates: Method<ReportDeviceStatesRequest, DeviceOutcomes>
  /** Returns the state and last report time of a device, or of up to 100 devices with `deviceNos`. */
  getDeviceState: Method<GetDeviceStateQuery & { deviceNo: string }, DeviceState> & Method<GetDeviceStateQuery & { deviceNos: string }, DeviceStates>
  /** Unbinds a device and frees its serial number immediately; any application can then bind it. The ownership history is kept. Returns the device’s last state. */
  unbindDevice: Method<UnbindDeviceRequest, Device>
  /** Unbinds up to 1000 devices. Returns one result per serial number, in order. A refused one doesn’t affect the others. */
  unbindDevices: Method<UnbindDevicesRequest, DeviceOutcomes>
  /** Returns the ownership history of a serial number, newest first. Applications see only their own bindings. */
  getDeviceHistory: Method<GetDeviceHistoryQuery, GetDeviceHistoryResult>
  /** Force-unbinds a device of any application and frees its serial number. */
  forceUnbindDevice: Method<ForceUnbindDeviceRequest, Device>
  /** Transfers a device with all its data to another application, which must be online, in one transaction. */
  transferDevice: Method<TransferDeviceRequest, Device>
  /** Transfers up to 1000 devices to another application. Returns one result per device, in order. A refused one doesn’t affect the others. */
  transferDevices: Method<TransferDevicesRequest, DeviceOutcomes>
  /** Adds a device to a site and sets its lane. A device can be at one site only: if it is at another site, it moves. Repeating the request changes nothing. */
  savePlacement: Method<SavePlacementRequest, Placement>
  /** Adds up to 1000 devices to sites. Returns one result per row, in order. A refused row doesn’t affect the others. */
  savePlacements: Method<SavePlacementsRequest, PlacementOutcomes>
  /** Removes a device from its site and returns the ended placement. */
  removePlacement: Method<RemovePlacementRequest, Placement>
  /** Removes up to 1000 devices from their sites. Returns one result per serial number, in order. A refused one doesn’t affect the others. */
  removePlacements: Method<RemovePlacementsRequest, PlacementOutcomes>
  /** Returns the current placement of a device. */
  getPlacement: Method<GetPlacementQuery, Placement>
  /** Lists current placements, newest first, each with the current state of its device. */
  pagePlacements: PageMethod<PagePlacementsQuery, PlacedDevicePage>
  /** Lists current and past placements of one device or one site, newest first. */
  pagePlacementHistory: PageMethod<PagePlacementHistoryQuery, PlacementPage>
  /** Returns device counts of up to 100 sites by state and lane, in the order of the IDs. */
  summarizePlacements: Method<SummarizePlacementsQuery, SummarizePlacementsResult>
  /** Suggests up to 100 devices without a site near a site, or sites near a device, nearest first. Sites without coordinates are matched by district. Changes nothing. */
  suggestPlacements: Method<SuggestPlacementsQuery, SuggestPlacementsResult>
  /** Returns the event feed of an application, oldest first. To get newer events, send the last event’s ID as `afterId`. */
  pageEvents: PageMethod<PageEventsQuery, EventPage> & Followed<StreamEventsQuery, Event>
  /** Streams an application’s events as server-sent events, in the order of `pageEvents`. Begins after `Last-Event-ID`, else after `afterId`, else after the newest event. */
  streamEvents: ExportMethod<StreamEventsQuery>
  /** Returns one event. */
  getEvent: Method<GetEventQuery, Event>
  /** Lists the audit log, newest first: actions of people and operator keys in all applications, applied price changes, and platform events. */
  pageAudit: PageMethod<PageAuditQuery, AuditEntryPage>
  /** Lists deliveries, newest event first. Deliveries of several applications are grouped by `appId`. */
  pageDeliveries: PageMethod<PageDeliveriesQuery, PageDeliveriesResult>
  /** Returns one delivery. */
  getDelivery: Method<GetDeliveryQuery, Delivery>
  /** Replays one delivery, or all events in a time range that the endpoint subscribes to. One replay per application runs at a time. */
  replayDeliveries: Method<ReplayDeliveriesRequest, ReplayDeliveriesResult>
  /** Sends one test event to the endpoint, without retries, and returns the result. */
  testDelivery: Method<TestDeliveryRequest, Delivery>
  /** Returns the health of an application’s callback endpoint: status, share of failed attempts, backlog and failure reasons. */
  getCallbackHealth: Method<GetCallbackHealthQuery, CallbackHealth>
  /** Lists refused write requests, including refused batch rows, newest first. Without `sort`, they are grouped by `appId`. The 1000 newest of each application are kept, up to 300 per minute. */
  pageRefusals: PageMethod<PageRefusalsQuery, RefusedWritePage>
  /** Uploads a file of up to 1 GB and imports its rows in the background. An application can run one import or bulk action at a time. Rows that already exist with the same content are counted as `existing`, so you can upload a file again. */
  createImport: FileMethod<CreateImportQuery, Import>
  /** Returns one import with its progress. */
  getImport: Method<GetImportQuery, Import>
  /** Lists imports of the last 7 days, newest first. */
  pageImports: PageMethod<PageImportsQuery, ImportPage>
  /** Cancels a waiting or running import. Rows already written are kept. */
  cancelImport: Method<CancelImportRequest, Import>
  /** Returns the results as NDJSON, one line per processed row: `line`, `outcome`, `code`, `msg`, `errors`, and the `deviceNo` or the site’s `id`. */
  getImportResult: ExportMethod<GetImportResultQuery>
  /** Downloads all rows of one kind as a file, with the filters of that kind’s list operation. In CSV, text that a spreadsheet would read as a formula gets a leading quote. GeoJSON (sites and devices only) is in WGS 84. */
  createExport: ExportMethod<CreateExportQuery>
  /** Returns a CSV template: an empty file with the columns of an import. */
  getTemplate: ExportMethod<GetTemplateQuery>
  /** Starts a bulk action: runs an operation in the background on all devices or sites that match the filters. It covers rows that exist at the time of the response and still match when they are processed. Each row writes the same event as the single operation. An application can run one import or bulk action at a time. */
  createAct: Method<CreateActRequest, BegunAct>
  /** Returns one bulk action with its progress. */
  getAct: Method<GetActQuery, Act>
  /** Lists bulk actions of the last 7 days, newest first. */
  pageActs: PageMethod<PageActsQuery, ActPage>
  /** Cancels a waiting or running bulk action. Changes already made are kept. */
  cancelAct: Method<CancelActRequest, Act>
  /** Returns the results as NDJSON, one line per processed row: `outcome`, `code`, `msg`, `errors`, and the `deviceNo` or the site’s `id`. */
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
  /** Creates an application (online and normal) and returns its secret once. */
  createApplication: Method<CreateApplicationRequest, CreateApplicationResult>
  /** Updates the fields that you send of an application. */
  updateApplication: Method<UpdateApplicationRequest, Application>
  /** Brings an application online. */
  takeApplicationOnline: Method<TakeApplicationOnlineRequest, Application>
  /** Takes an application offline. From the response on, the application can’t create devices. */
  takeApplicationOffline: Method<TakeApplicationOfflineRequest, Application>
  /** Freezes an application: its tokens stop working within 1 second. */
  freezeApplication: Method<FreezeApplicationRequest, Application>
  /** Unfreezes an application. */
  unfreezeApplication: Method<UnfreezeApplicationRequest, Application>
  /** Rotates the application’s secret and returns the new one once. The old secret and its tokens stop working within 1 second, or after `overlapSeconds`. An even older secret stops working immediately. If an application rotates its own secret, send `overlapSeconds`: otherwise the token of this request stops working too, and a lost response can’t be retrieved. */
  rotateApplicationSecret: Method<RotateApplicationSecretRequest, ApplicationWithSecret>
  /** Ends the overlap of a rotation early: the previous secret and its tokens stop working within 1 second. If no previous secret is valid, nothing changes. With `If-Match`, this ends only the secret in the record that you read, not that of a later rotation. */
  endPreviousApplicationSecret: Method<EndPreviousApplicationSecretRequest, Application>
  /** Returns one application. An application can read itself, including the service settings that affect it. */
  getApplication: Method<GetApplicationQuery, GetApplicationResult>
  /** Lists applications, newest first. Developers see only applications that they are a member of. */
  pageApplications: PageMethod<PageApplicationsQuery, ApplicationPage>
  /** Creates or replaces the device model of a serial prefix. */
  saveDeviceModel: Method<SaveDeviceModelRequest, DeviceModel>
  /** Deletes the device model of a serial prefix. Existing devices keep the model. */
  deleteDeviceModel: Method<DeleteDeviceModelRequest, DeviceModel>
  /** Lists device models by serial prefix. */
  pageDeviceModels: PageMethod<PageDeviceModelsQuery, DeviceModelPage>
  /** Adds serial numbers to the inventory or updates their models. Either all are written or none. */
  importDeviceInventory: Method<ImportDeviceInventoryRequest, ImportDeviceInventoryResult>
  /** Lists the inventory by serial number. */
  pageDeviceInventory: PageMethod<PageDeviceInventoryQuery, InventoryEntryPage>
  /** Removes a serial number from the inventory. A bound device stays bound. */
  deleteDeviceInventory: Method<DeleteDeviceInventoryRequest, InventoryEntry>
  /** Signs in with name and password (and `code` if the account has a second factor), with a passkey, or with an operator key. The session is a cookie that scripts can’t read. The browser’s previous session ends. If the account has more than 20 sessions, the oldest ends. */
  createSession: Method<CreateSessionRequest, Session>
  /** Starts signing in with a passkey: returns the options for the browser. They don’t reveal whether an account exists. */
  startPasskeySession: Method<StartPasskeySessionRequest, StartPasskeySessionResult>
  /** Returns the current session’s user. */
  getSession: Method<Record<never, never>, GetSessionResult>
  /** Confirms the user’s identity again, which operations on accounts, secrets and ownership require. Send the password (and `code` if the account has an authenticator app), a passkey, or, in a session started with an operator key, that key. */
  confirmSession: Method<ConfirmSessionRequest, Session>
  /** Returns the service settings that the console needs. */
  getSettings: Method<Record<never, never>, GetSettingsResult>
  /** Lists your own sessions, newest first. Admins see all sessions. */
  pageSessions: PageMethod<PageSessionsQuery, SessionPage>
  /** Ends one of your own sessions. Admins can end any session. */
  deleteSession: Method<DeleteSessionRequest, DeleteSessionResult>
  /** Returns the available sign-in methods. */
  getSignOn: Method<Record<never, never>, GetSignOnResult>
  /** Starts single sign-on: returns the URL for the browser and sets a cookie for the way back. `link` and `confirm` need a session, `link` also a recent identity confirmation. `setUp` needs the token of a setup link. */
  startSignOn: Method<StartSignOnRequest, StartSignOnResult>
  /** Where the identity provider redirects the browser. Always responds with 303 to the console: to the requested page, or with an error code. A link or a confirmation is carried out if the cookie of the session that began it comes with the request; otherwise the account page completes it. */
  finishSignOn: Method<Record<never, never>, unknown>
  /** Completes a link or a confirmation that came back from the provider without the cookie of its session, in that session. */
  completeSignOn: Method<CompleteSignOnRequest, CompleteSignOnResult>
  /** Ends sessions that ended at the identity provider (OpenID Connect Back-Channel Logout 1.0). The body is a form. */
  logOutByProvider: Method<LogOutByProviderRequest, LogOutByProviderResult>
  /** Unlinks your own account from the identity provider. Admins can unlink any account. */
  unlinkSignOn: Method<UnlinkSignOnRequest, Operator>
  /** Returns your own second factors. */
  getSecondFactors: Method<Record<never, never>, SecondFactors>
  /** Starts authenticator app setup: creates a secret (RFC 6238: SHA-1, 6 digits, 30 s). To finish, save one of its codes within 10 minutes. */
  startTotp: Method<StartTotpRequest, StartTotpResult>
  /** Finishes authenticator app setup with one of its codes. Replaces an earlier app. */
  saveTotp: Method<SaveTotpRequest, SecondFactorsWithCodes>
  /** Removes your authenticator app. Removing the last factor also deletes the recovery codes. */
  deleteTotp: Method<DeleteTotpRequest, SecondFactors>
  /** Starts adding a passkey (WebAuthn): returns the options for the browser. An account can have up to 20. */
  startPasskey: Method<StartPasskeyRequest, StartPasskeyResult>
  /** Adds the passkey that the browser created. */
  savePasskey: Method<SavePasskeyRequest, SecondFactorsWithCodes>
  /** Removes one of your passkeys. Removing the last factor also deletes the recovery codes. */
  deletePasskey: Method<DeletePasskeyRequest, SecondFactors>
  /** Generates ten new recovery codes, which replace all earlier ones, and returns them once. */
  renewRecoveryCodes: Method<RenewRecoveryCodesRequest, RenewRecoveryCodesResult>
  /** Resets the second factor of another account: deletes all its factors, ends its sessions and clears its known browsers. */
  resetSecondFactors: Method<ResetSecondFactorsRequest, Operator>
  /** Creates an account. Without a password, the response has a one-time setup link. */
  createOperator: Method<CreateOperatorRequest, OperatorWithSetUp>
  /** Updates the fields that you send of an account. Changes apply to its sessions within 1 second. The last active admin must stay an active admin. When you disable an account, `handOverTo` reassigns its keys and saved views; a view whose name is taken gets “(2)”. */
  updateOperator: Method<UpdateOperatorRequest, Operator>
  /** Deletes an account and ends its sessions. The audit log keeps its actions. Its keys and saved views are deleted too, or reassigned to `handOverTo`. */
  deleteOperator: Method<DeleteOperatorRequest, Operator>
  /** Resets an account: creates a new one-time setup link. The old password stops working and all sessions end immediately. */
  resetOperator: Method<ResetOperatorRequest, OperatorWithSetUp>
  /** Sets the password with a one-time setup link and signs the person in. Accounts with a second factor also need `code`. */
  setUpOperator: Method<SetUpOperatorRequest, Session>
  /** Changes your own password and ends your other sessions. */
  changePassword: Method<ChangePasswordRequest, Operator>
  /** Returns one account. */
  getOperator: Method<GetOperatorQuery, Operator>
  /** Lists accounts, newest first. */
  pageOperators: PageMethod<PageOperatorsQuery, OperatorPage>
  /** Creates an operator key and returns it once. The key belongs to the account that creates it and is deleted with that account. */
  createOperatorKey: Method<CreateOperatorKeyRequest, CreateOperatorKeyResult>
  /** Revokes a key: the key and its sessions stop working within 1 second. */
  deleteOperatorKey: Method<DeleteOperatorKeyRequest, OperatorKey>
  /** Reassigns a key to another account, even if the current owner is disabled. The key keeps working, limited to the new owner’s role. */
  handOverOperatorKey: Method<HandOverOperatorKeyRequest, OperatorKey>
  /** Lists operator keys, newest first. */
  pageOperatorKeys: PageMethod<PageOperatorKeysQuery, OperatorKeyPage>
  /** Lists your own operator keys, newest first, including reassigned ones. */
  pageOwnOperatorKeys: PageMethod<PageOwnOperatorKeysQuery, OperatorKeyPage>
  /** Saves a view of a console list in your own account. Replaces a view of that list with the same name; with an `id`, updates that view, including its name. An account can have up to 50 views. */
  saveView: Method<SaveViewRequest, View>
  /** Lists your own saved views, newest first. Admins can list those of any account. */
  pageViews: PageMethod<PageViewsQuery, ViewPage>
  /** Deletes one of your own saved views. */
  deleteView: Method<DeleteViewRequest, View>
  /** Returns an overview of the platform at `countTime`: a few seconds ago, or up to a minute on large platforms. If the counts are older, the request waits up to 3 seconds for new ones. */
  getOverview: Method<Record<never, never>, GetOverviewResult>
  /** Searches devices by serial number; sites, applications, billing rules and accounts by part of the name; applications by the start of their ID; and refused requests by request ID. Returns up to 8 records of each kind. Not case-sensitive, except for request IDs. All rows are searched by the start of a serial number (for developers, by the whole serial number); other parts of serial numbers and names only in the first 30,000 rows. To search all rows, use the list operations. Developers find only records of their own applications; only admins find accounts. */
  search: Method<SearchQuery, SearchResult>
  /** Liveness check: responds while the process is alive. */
  getHealth: Method<Record<never, never>, GetHealthResult>
  /** Readiness check: returns whether the service can handle requests, with the result of each check. Status 503 while a check other than `nodes` fails. */
  getReadiness: Method<Record<never, never>, GetReadinessResult>
  /** Returns metrics in the Prometheus text format. */
  getMetrics: Method<Record<never, never>, string>
  /** Returns the OpenAPI 3.1 document of this API. */
  getOpenApi: Method<Record<never, never>, Record<string, unknown>>
  /** Returns runtime, database, disk and table sizes, and a 12-month forecast. A few seconds old. */
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

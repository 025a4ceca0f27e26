import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { readDatabaseUrl } from './database/url.ts'
import { nearestOf } from './runtime/nearest.ts'
import {
  integer,
  notContact,
  notIssuer,
  notTiles,
  oneOf,
  optional,
  readProxies,
  readPublicUrl,
  readRoleRules,
  readRoles,
  readScopes,
  type Setting,
  setting,
  settingFault,
  share,
  text,
  unknownZone,
  weakKey,
  withoutQuotes,
} from './runtime/setting-values.ts'
import { UserError } from './runtime/user-error.ts'
import type { SettingInForce } from './service/detail/contract.ts'

type Settings = Record<string, Setting<unknown>>

/** Throws the URL's own error. */
function notDatabase(url: string): undefined {
  readDatabaseUrl(url)
}

/** All settings (contract §7), by field of `Config`. The settings reference is made from it. */
export const settings = {
  host: setting('FORECOURT_HOST', text('127.0.0.1'), {
    en: 'The address on which the service listens.',
    zh: '监听地址。',
  }),
  port: setting('FORECOURT_PORT', integer(8080, 0, 65535), {
    en: 'The port on which the service listens; 0 picks a free port.',
    zh: '监听端口；0 表示任选空闲端口。',
  }),
  workers: setting('FORECOURT_WORKERS', integer(1, 1, 64), {
    en: 'Number of workers (processes) on this machine, sharing one port: 1 to 64.',
    zh: '在本机同一端口上提供服务的进程数：1 至 64。',
  }),
  databaseUrl: setting(
    'DATABASE_URL',
    { ...optional(notDatabase), isSecret: true },
    {
      en: 'URL of a PostgreSQL (15 or newer) to use instead of the embedded one. With several hosts, the primary is used. Names and passwords are percent-encoded. For a socket: `?host=/folder`.',
      zh: '使用自备的 PostgreSQL（15 或更新）代替内置数据库。可写多个主机，使用其中的主库；名称和密码须百分号编码；`?host=/folder` 表示套接字。',
    },
  ),
  dataDir: setting(
    'FORECOURT_DATA_DIR',
    { ...text('./data'), parse: (given = './data') => resolve(given) },
    {
      en: 'Folder for the embedded database and the encryption key.',
      zh: '内置数据库和密钥所在的目录。',
    },
  ),
  operatorKey: setting(
    'FORECOURT_OPERATOR_KEY',
    { ...optional(weakKey), isSecret: true },
    {
      en: 'An operator key of at least 32 characters, valid while the service runs with it. Without one, the first start prints a one-time setup link.',
      zh: '运营方密钥，至少 32 个字符，服务带此配置运行期间有效。未设置时，首次启动会打印一次性的设置链接。',
    },
  ),
  timeZone: setting('FORECOURT_TIME_ZONE', text('Asia/Shanghai', unknownZone), {
    en: 'The time zone for all times.',
    zh: '时间的显示时区。',
  }),
  publicUrl: setting(
    'FORECOURT_PUBLIC_URL',
    { fallback: undefined, parse: readPublicUrl },
    {
      en: 'The service’s public address: `https://…` without a path; `http` only for this machine. Used in setup links and OAuth metadata. If not set, the address of the request is used.',
      zh: '客户端看到的服务地址：`https://…`，不含路径，仅本机可用 `http`。授权服务器元数据和设置链接使用它；未设置时使用请求的地址。',
    },
  ),
  factorRoles: setting(
    'FORECOURT_REQUIRE_SECOND_FACTOR',
    { fallback: undefined, parse: readRoles },
    {
      en: 'The roles that need a second factor, separated by commas: `admin`, `admin,operator` …',
      zh: '必须使用第二验证因素的角色，以逗号分隔：`admin`、`admin,operator` 等。',
    },
  ),
  oidcIssuer: setting('FORECOURT_OIDC_ISSUER', optional(notIssuer), {
    en: 'Issuer of the identity provider (OpenID Connect), exactly as in its tokens. Turns on single sign-on.',
    zh: 'OpenID 提供方的 issuer，须与其令牌中的写法完全一致；设置后可单点登录。',
  }),
  oidcClientId: setting('FORECOURT_OIDC_CLIENT_ID', optional(), {
    en: 'Client ID at the identity provider. Redirect URI: `FORECOURT_PUBLIC_URL` + `/api/platform/v1/signOn/callback`.',
    zh: '在提供方登记的客户端。其回调地址为 `FORECOURT_PUBLIC_URL` 加 `/api/platform/v1/signOn/callback`。',
  }),
  oidcClientSecret: setting(
    'FORECOURT_OIDC_CLIENT_SECRET',
    { ...optional(), isSecret: true },
    {
      en: 'Client secret; without one, a public client.',
      zh: '该客户端的密钥；未设置时为公开客户端。',
    },
  ),
  oidcName: setting('FORECOURT_OIDC_NAME', text('Single sign-on'), {
    en: 'Label of the single sign-on button.',
    zh: '单点登录按钮上的文字。',
  }),
  oidcScopes: setting(
    'FORECOURT_OIDC_SCOPES',
    { fallback: 'openid profile', parse: readScopes },
    {
      en: 'The scopes that are requested from the provider; `openid` is always included.',
      zh: '向提供方请求的范围；始终包含 `openid`。',
    },
  ),
  oidcRoles: setting(
    'FORECOURT_OIDC_ROLES',
    { fallback: undefined, parse: readRoleRules },
    {
      en: 'Roles by claim value: `admin=ops-admins;operator=ops,duty;viewer=*`, where `*` is everyone. The first matching role applies, in the order admin, operator, viewer, developer. Without this setting, single sign-on creates no accounts.',
      zh: '声明的哪些值对应哪个角色：`admin=ops-admins;operator=ops,duty;viewer=*`，`*` 表示所有人；按 admin、operator、viewer、developer 的顺序取第一个符合的。未设置时不会通过单点登录创建账号。',
    },
  ),
  oidcRoleClaim: setting('FORECOURT_OIDC_ROLE_CLAIM', text('groups'), {
    en: 'The claim with those values: a name, or a path with dots (`realm_access.roles`).',
    zh: '含有这些值的声明：名称，或以点分隔的路径（`realm_access.roles`）。',
  }),
  oidcSessionHours: setting('FORECOURT_OIDC_SESSION_HOURS', integer(12, 1, 336), {
    en: 'Maximum length of a single sign-on session, in hours.',
    zh: '单点登录会话的最长时间（小时）。',
  }),
  signOnSecondFactor: setting('FORECOURT_SIGN_ON_SECOND_FACTOR', oneOf('provider', 'ours'), {
    en: '`ours`: people who sign in with single sign-on must also confirm a second factor here.',
    zh: '`ours`：通过单点登录的人还须提供本服务的第二验证因素。',
  }),
  passwords: setting('FORECOURT_PASSWORDS', oneOf('everyone', 'admins'), {
    en: '`admins`: only admins can sign in with a password.',
    zh: '`admins`：仅管理员可用密码登录。',
  }),
  confirmSeconds: setting('FORECOURT_CONFIRM_SECONDS', integer(600, 1, 86_400), {
    en: 'How long an identity confirmation (password, passkey or code) is valid for sensitive operations, in seconds. After that, the console asks again.',
    zh: '身份验证对危险操作的有效秒数；过期后控制台会要求重新验证。',
  }),
  mapTileUrl: setting('FORECOURT_MAP_TILES', optional(notTiles), {
    en: 'URL of the console’s map tiles, with `{z}`, `{x}` and `{y}`. Without it, the map has a plain background.',
    zh: '控制台地图的瓦片地址，含 `{z}`、`{x}` 和 `{y}`；未设置时为素色底图。',
  }),
  securityContact: setting('FORECOURT_SECURITY_CONTACT', optional(notContact), {
    en: 'Where to report a vulnerability of this installation: a `mailto:`, `https:` or `tel:` address, shown in `/.well-known/security.txt`. Without it, that page is 404.',
    zh: '本系统安全漏洞的报告地址：`mailto:`、`https:` 或 `tel:`，见 `/.well-known/security.txt`；未设置时该页面为 404。',
  }),
  inventoryPolicy: setting('FORECOURT_INVENTORY_POLICY', oneOf('open', 'required'), {
    en: '`required`: only devices whose serial numbers are in the inventory can be created.',
    zh: '`required`：只能创建库存中已有的序列号。',
  }),
  coordinates: setting('FORECOURT_COORDINATES', oneOf('gcj02', 'wgs84', 'bd09'), {
    en: 'The coordinate system that callers use: `gcj02`, `wgs84` or `bd09`. Applications can read this setting; only GeoJSON is converted.',
    zh: '调用方使用的坐标系：`gcj02`、`wgs84` 或 `bd09`。仅作说明；只有 GeoJSON 会转换。',
  }),
  privateCallbacks: setting('FORECOURT_PRIVATE_CALLBACKS', oneOf('refuse', 'allow'), {
    en: '`allow`: callbacks may be http and go to private addresses, for development.',
    zh: '`allow`：回调可使用 http 并发往内网地址，仅用于开发。',
  }),
  callbacks: setting('FORECOURT_CALLBACKS', oneOf('on', 'paused'), {
    en: '`paused`: no callbacks are sent, for example during a drill. Events and replays are sent after you set it to `on` again. A restore pauses callbacks regardless of this setting.',
    zh: '`paused`：暂停发送，例如演练期间；期间产生和重放的回调会在恢复后发送。恢复备份时会自动暂停。',
  }),
  callbackRetryScale: setting('FORECOURT_CALLBACK_RETRY_SCALE', share(1), {
    en: 'Multiplier for the delays between delivery attempts; use values below 1 to speed up tests.',
    zh: '回调重试间隔的比例；小于 1 可加快测试。',
  }),
  deliveryDays: setting('FORECOURT_DELIVERY_DAYS', integer(30, 1, 36_500), {
    en: 'Retention of deliveries, in days.',
    zh: '回调记录的保留天数。',
  }),
  eventDays: setting('FORECOURT_EVENT_DAYS', integer(400, 1, 3660), {
    en: 'Retention of events, including platform events, in days. Events can stay up to a fifteenth longer, or a week longer while a callback hasn’t received them.',
    zh: '事件（包括平台自身的事件）的保留天数，最多延长十五分之一；回调尚未取走时最多再保留一周。',
  }),
  stateEventDays: setting('FORECOURT_STATE_DAYS', integer(30, 1, 3660), {
    en: 'Retention of device state changes (`device.stateChanged`), by far the most frequent events, in days; never longer than other events.',
    zh: '设备状态变化（`device.stateChanged`）的保留天数，这类事件数量最多；不会长于其他事件。',
  }),
  refusalDays: setting('FORECOURT_REFUSAL_DAYS', integer(7, 1, 36_500), {
    en: 'Retention of refused requests, in days; up to the 1,000 newest of each application.',
    zh: '被拒绝写请求的保留天数；每个应用最多保留最新 1,000 条。',
  }),
  fileBytes: setting('FORECOURT_FILE_BYTES', integer(2 * 1024 ** 3, 1_000_000, 1024 ** 4), {
    en: 'Storage limit for the import files and results of one application, in bytes. Beyond that, files are refused with 10007. Inventory files of all operators share one limit.',
    zh: '单个应用的导入（等待处理的文件和保留的结果）可占用的字节数；超过则返回 10007。运营方的库存文件合并计算。',
  }),
  presenceSeconds: setting('FORECOURT_PRESENCE_SECONDS', integer(300, 1, 86_400), {
    en: 'Seconds without a report before a device is offline. Devices are marked offline within 1.4 times this time after the last report, or 1.2 times plus 10 s, whichever is less.',
    zh: '设备静默多少秒后视为离线；最迟在其 1.4 倍时间或 1.2 倍时间后 10 秒发现。',
  }),
  trustedProxies: setting(
    'FORECOURT_TRUSTED_PROXIES',
    { fallback: undefined, parse: readProxies },
    {
      en: 'Trusted proxies: addresses or networks, separated by commas, whose `X-Forwarded-For` and `X-Forwarded-Proto` headers are used.',
      zh: '受信任代理的地址或网段，以逗号分隔，其 `X-Forwarded-For` 和 `X-Forwarded-Proto` 才会被采信。',
    },
  ),
  secretsKeyFile: setting('FORECOURT_SECRETS_KEY_FILE', optional(), {
    en: 'File with the encryption key for callback secrets. Without it, a key is created in the data folder.',
    zh: '加密回调密钥所用密钥的文件；未设置时在数据目录中生成。',
  }),
  databaseWaitSeconds: setting('FORECOURT_DATABASE_WAIT_SECONDS', integer(30, 0, 3600), {
    en: 'How long startup waits for a database that doesn’t respond or is still a standby, in seconds; 0 means one attempt.',
    zh: '启动时等待数据库就绪（或备库升主）的秒数；0 表示只尝试一次。',
  }),
  logLevel: setting('FORECOURT_LOG_LEVEL', oneOf('info', 'trace', 'debug', 'warn', 'error', 'fatal', 'silent'), {
    en: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`; `debug` logs each request.',
    zh: '`trace`、`debug`、`info`、`warn`、`error`、`fatal` 或 `silent`；`debug` 记录每个请求。',
  }),
  statementTimeoutMs: setting('FORECOURT_STATEMENT_TIMEOUT_MS', integer(5000, 100, 60_000), {
    en: 'Timeout for database statements, in milliseconds. Shortly before that, waiting requests get error 50003.',
    zh: '单条语句的最长执行时间（毫秒）；数据库无响应时，请求届时返回 50003。',
  }),
  maxRequests: setting('FORECOURT_MAX_REQUESTS', integer(10_000, 1, 1_000_000), {
    en: 'Maximum concurrent requests, across all workers; more are refused with 50003.',
    zh: '同时处理的请求数上限（所有进程合计）；超过则返回 50003。',
  }),
  /** Limits each lane. */
  maxWaitingCreates: setting('FORECOURT_MAX_WAITING_CREATES', integer(10_000, 1, 1_000_000), {
    en: 'Maximum creates waiting to be written (batch rows included), across all workers; more are refused with 50003.',
    zh: '等待成批写入的创建数（含批量中的行，所有进程合计）；超过则返回 50003。',
  }),
} satisfies Settings

/** Plain data, because the parent process sends it to its workers. */
export type Config = { [Member in keyof typeof settings]: ReturnType<(typeof settings)[Member]['parse']> }

type Environment = Record<string, string | undefined>

/** Reads the settings. Throws `UserError` for the first invalid one. */
export function readConfig(environment: Environment): Config {
  const values = Object.entries<Setting<unknown>>(settings).map(([member, { name, isSecret, parse }]) => {
    const text = isSecret ? readSecret(environment, name) : read(environment, name)
    try {
      return [member, parse(text)]
    } catch (error) {
      throw settingFault.is(error) ? new UserError(`${name} ${error.message}.`) : error
    }
  })
  const config: Config = Object.fromEntries(values)
  requireTogether(config)
  return config
}

export function settingsInForce(config: Config): SettingInForce[] {
  return Object.entries<Setting<unknown>>(settings).map(([member, { name, isSecret = false, parse }]) => {
    const value = textOf(config[member as keyof Config])
    return {
      name,
      value: isSecret ? null : value,
      isSecret,
      isSet: value !== textOf(parse(undefined) as Config[keyof Config]),
    }
  })
}

function textOf(value: Config[keyof Config]): string | null {
  if (value === undefined) return null
  if (!Array.isArray(value)) return String(value)
  const parts = value.map((part) => {
    if (typeof part === 'string') return part
    return 'bits' in part ? `${part.address}/${part.bits}` : `${part.role}=${part.values.join(',')}`
  })
  return parts.join(parts.some((part) => part.includes('=')) ? ';' : ',')
}

/** Other programs of Forecourt read these. */
const ofOthers = /^FORECOURT_(URL|BASE_URL|RUNTIME|TEST_\w+)$/

/** A variable that looks like a setting but isn't one, and the nearest setting. */
export interface UnknownSetting {
  name: string
  nearest: string
}

/** Finds variables with `FORECOURT_` that no program of Forecourt reads. */
export function findUnknownSettings(environment: Environment): UnknownSetting[] {
  const known = Object.values<Setting<unknown>>(settings).flatMap(({ name, isSecret }) =>
    isSecret ? [name, `${name}_FILE`] : [name],
  )
  return Object.keys(environment)
    .filter((name) => name.startsWith('FORECOURT_') && !known.includes(name) && !ofOthers.test(name))
    .sort()
    .map((name) => ({ name, nearest: nearestOf(name, known) }))
}

/** Throws `UserError` for contradictory settings of single sign-on. */
function requireTogether({ oidcIssuer, oidcClientId, oidcRoles, publicUrl }: Config): void {
  if (oidcIssuer === undefined) {
    if (oidcRoles === undefined) return
    throw new UserError('FORECOURT_OIDC_ROLES needs FORECOURT_OIDC_ISSUER: without a provider it has no effect.')
  }
  for (const [name, value] of Object.entries({
    FORECOURT_OIDC_CLIENT_ID: oidcClientId,
    FORECOURT_PUBLIC_URL: publicUrl,
  })) {
    if (value === undefined) throw new UserError(`FORECOURT_OIDC_ISSUER needs ${name}, which is not set.`)
  }
}

function read(environment: Environment, name: string): string | undefined {
  return withoutQuotes(environment[name]?.trim() ?? '') || undefined
}

/** Returns a setting or the text of its file, which keeps secrets out of the environment. */
export function readSecret(environment: Environment, name: string): string | undefined {
  const value = read(environment, name)
  const file = read(environment, `${name}_FILE`)
  if (file === undefined) return value
  if (value !== undefined) throw new UserError(`${name} and ${name}_FILE are both set. Remove one of them.`)
  return readSecretFile(`${name}_FILE`, file)
}

/** Reads a line of text, without the line end that editors add. */
function readSecretFile(name: string, file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new UserError(`Can’t read ${file} from ${name} (${(error as { code?: string }).code}).`)
  }
  if (text === '') throw new UserError(`${file} from ${name} is empty.`)
  return text
}

import { eventWords } from '../../../src/vocabulary/event-types.ts'
import { actorWords } from '../ui/text/actor-words.ts'
import { attemptWords } from './attempt-words.ts'
import { readUserAgent } from './user-agent.ts'
import { type Words, w } from './words.ts'

type Language = keyof Words

const roles = {
  admin: w('admin', '管理员'),
  operator: w('operator', '运营'),
  viewer: w('viewer', '只读'),
  developer: w('developer', '开发者'),
}
const isOnline = { 1: w('online', '在线'), 2: w('offline', '离线') }
const jobStatus = {
  1: w('waiting', '等待中'),
  2: w('running', '进行中'),
  3: w('done', '已完成'),
  4: w('failed', '失败'),
  5: w('cancelled', '已取消'),
}
const lists = {
  applications: w('applications', '应用'),
  sites: w('sites', '站点'),
  devices: w('devices', '设备'),
  placements: w('placements', '设备安装'),
  billingRules: w('billing rules', '计费规则'),
  priceChanges: w('price changes', '调价'),
  models: w('models', '型号'),
  inventory: w('inventory', '库存'),
  regions: w('regions', '行政区划'),
  imports: w('imports', '导入'),
  acts: w('bulk actions', '批量操作'),
  events: w('events', '事件'),
  audit: w('audit log', '审计日志'),
  deliveries: w('deliveries', '回调投递'),
  refusals: w('refused requests', '被拒绝的请求'),
  operators: w('accounts', '账号'),
}

/** The meanings of values, by the noun of the event and the member. */
const valueWords: Record<string, Record<string, Record<string, Words>>> = {
  device: {
    status: { 1: w('normal', '正常'), 2: w('faulty', '故障') },
    onlineStatus: isOnline,
    runStatus: { 0: w('closed', '关闭'), 1: w('open', '开启'), 2: w('stopped', '停止') },
    laneType: {
      1: w('entrance', '入口'),
      2: w('exit', '出口'),
      3: w('entrance and exit', '出入口'),
      4: w('door', '门'),
    },
  },
  application: {
    status: { 1: w('normal', '正常'), 2: w('frozen', '已冻结') },
    onlineStatus: { 1: w('online', '已上线'), 2: w('offline', '已下线') },
  },
  operator: {
    role: roles,
    status: { 1: w('active', '启用'), 2: w('disabled', '停用') },
    source: { 1: w('local', '本平台'), 2: w('single sign-on', '单点登录') },
  },
  operatorKey: { role: roles, status: { 1: w('active', '有效'), 2: w('inactive', '失效') } },
  session: {
    role: roles,
    method: {
      password: w('password', '密码'),
      'password+code': w('password and code', '密码与验证码'),
      passkey: w('passkey', '通行密钥'),
      signOn: w('single sign-on', '单点登录'),
      'signOn+code': w('single sign-on and code', '单点登录与验证码'),
      'signOn+passkey': w('single sign-on and passkey', '单点登录与通行密钥'),
      operatorKey: w('operator key', '运营密钥'),
    },
    limit: {
      browser: w('from one browser', '同一浏览器'),
      source: w('from one address', '同一来源地址'),
      nameAndSource: w('one name from one address', '同一来源地址的同一名称'),
      name: w('one name', '同一名称'),
      code: w('verification codes of one account', '同一账号的验证码'),
    },
  },
  secondFactor: {
    factor: {
      totp: w('authenticator app', '验证器应用'),
      passkey: w('passkey', '通行密钥'),
      recoveryCodes: w('recovery codes', '恢复码'),
    },
  },
  billingRule: {
    ruleType: { 1: w('fast charging', '快充'), 2: w('slow charging', '慢充'), 3: w('occupancy', '占位') },
  },
  priceChange: { status: { 1: w('scheduled', '等待生效'), 2: w('applied', '已生效'), 3: w('cancelled', '已取消') } },
  delivery: { status: { 1: w('pending', '等待中'), 2: w('delivered', '已送达'), 3: w('failed', '已失败') } },
  import: {
    kind: lists,
    status: jobStatus,
    format: { csv: w('CSV', 'CSV'), ndjson: w('NDJSON', 'NDJSON') },
    mode: {
      create: w('keep existing rows', '已存在的行保持不变'),
      upsert: w('update existing rows', '更新已存在的行'),
    },
  },
  act: {
    kind: lists,
    status: jobStatus,
    act: {
      update: w('update', '修改'),
      unbind: w('unbind', '解绑'),
      forceUnbind: w('force unbind', '强制解绑'),
      transfer: w('transfer', '转移'),
      delete: w('delete', '删除'),
    },
  },
}

/** Members that are lists of plain values: a comparison of two records has each list as one JSON text. */
const listMembers = new Set(['callbackEvents', 'appIds', 'siteIds', 'views'])
/** Members that name who acted. */
const actorMembers = new Set(['createdBy', 'cancelledBy', 'placedBy', 'removedBy'])

const none = w('none', '无')
const yes = w('yes', '是')
const no = w('no', '否')

const kindsOfActors: Record<string, Words> = { operatorKey: w('key', '密钥'), application: w('application', '应用') }

/** The name of an account, a key or an application that acted, without the prefix that the log stores. */
function nameOfActor(actor: string, language: Language): string {
  const [, kind = '', name = actor] = /^(\w+):(.*)$/s.exec(actor) ?? []
  const words = kindsOfActors[kind]?.[language]
  return words === undefined ? name : `${words} ${name}`
}

/** The words of a list of the console. */
export const listWord = (list: string, language: Language): string =>
  (lists as Record<string, Words>)[list]?.[language] ?? list

/** What a member's value means, by the noun that it is of; a value without words as it is. */
export function valueWord(noun: string, member: string, text: string | undefined, language: Language): string {
  if (text === undefined || text === 'null' || text === '' || text === '[]') return none[language]
  if (text === 'true' || text === 'false') return (text === 'true' ? yes : no)[language]
  const known = valueWords[noun]?.[member]?.[text]
  if (known !== undefined) return known[language]
  return textWord(noun, member, text, language)
}

/** A text that the service composed, in the reader's words; any other text as it is. */
function textWord(noun: string, member: string, text: string, language: Language): string {
  if (member === 'callbackStopReason' || (member === 'error' && noun === 'delivery'))
    return attemptWords(text, language)
  if (actorMembers.has(member)) return actorWords(text, language) ?? nameOfActor(text, language)
  if (member === 'userAgent') return readUserAgent(text)
  if (!/^\[.*\]$/.test(text) || !listMembers.has(member)) return text
  const list = JSON.parse(text) as unknown[]
  const shown = list.map((item) => (eventWords as Record<string, Words>)[String(item)]?.[language] ?? String(item))
  return shown.join(language === 'zh' ? '、' : ', ')
}

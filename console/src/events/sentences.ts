import { eventWords } from '../../../src/vocabulary/event-types.ts'
import { attemptWords } from '../deliveries/failure-words.ts'
import { compare } from '../ui/compare.ts'

interface Words {
  en: string
  zh: string
}

type Language = keyof Words

const w = (en: string, zh: string): Words => ({ en, zh })

/** The names of members in sentences. */
const memberWords: Record<string, Words> = {
  id: w('id', '编号'),
  appId: w('application', '应用'),
  appName: w('name of the application', '应用名称'),
  name: w('name', '名称'),
  role: w('role', '角色'),
  status: w('state', '状态'),
  onlineStatus: w('online state', '在线状态'),
  runStatus: w('running state', '运行状态'),
  statusRemark: w('remark on the state', '状态说明'),
  version: w('firmware', '固件版本'),
  batteryStatus: w('battery state', '电池状态'),
  batteryEnergy: w('battery charge', '电量'),
  deviceNo: w('serial number', '序列号'),
  deviceName: w('name of the device', '设备名称'),
  tag: w('tag', '备注'),
  modelName: w('model', '型号'),
  productPictureUrl: w('picture', '产品图片'),
  deviceType: w('kind of device', '设备类型'),
  deviceTypeName: w('name of the kind of device', '设备类型名称'),
  serialPrefix: w('beginning of the serial numbers', '序列号前缀'),
  siteId: w('site', '站点编号'),
  siteName: w('name of the site', '站点名称'),
  contacts: w('contact person', '联系人'),
  contactsPhone: w('telephone of the contact person', '联系电话'),
  customerServicePhone: w('telephone of the customer service', '客服电话'),
  businessWeekDay: w('working days', '营业日'),
  businessStartTime: w('opening time', '开始营业时间'),
  businessClosingTime: w('closing time', '结束营业时间'),
  sitePictureUrl: w('picture of the site', '站点图片'),
  fastChargeBillRuleId: w('billing rule of fast charging', '快充计费规则'),
  rushingBillRuleId: w('billing rule of slow charging', '慢充计费规则'),
  placeholderBillRuleId: w('billing rule of occupancy', '占位计费规则'),
  ipcIds: w('cameras', '摄像头'),
  provinceCode: w('code of the province', '省份代码'),
  cityCode: w('code of the city', '城市代码'),
  districtCode: w('code of the district', '区县代码'),
  provinceName: w('province', '省份'),
  cityName: w('city', '城市'),
  districtName: w('district', '区县'),
  detailAddress: w('address', '详细地址'),
  longitude: w('longitude', '经度'),
  latitude: w('latitude', '纬度'),
  coordinates: w('coordinates', '坐标'),
  laneType: w('kind of lane', '通道类型'),
  laneName: w('name of the lane', '通道名称'),
  placedTime: w('placed at', '安放时间'),
  placedBy: w('placed by', '安放者'),
  removedTime: w('removed at', '移除时间'),
  removedBy: w('removed by', '移除者'),
  ruleName: w('name of the rule', '规则名称'),
  ruleType: w('kind of rule', '规则类型'),
  electricityPrice: w('electricity', '电费'),
  servicePrice: w('service', '服务费'),
  freeMinutes: w('free minutes', '免费分钟数'),
  unitMinutes: w('minutes of a unit', '计费单位（分钟）'),
  unitPrice: w('price of a unit', '单位价格'),
  dailyCap: w('most a day', '每日封顶'),
  billingRuleId: w('billing rule', '计费规则'),
  effectiveTime: w('takes effect', '生效时间'),
  siteCount: w('sites', '站点数'),
  skippedCount: w('sites left as they are', '未变更的站点数'),
  undoOf: w('undoes the price change', '撤销的调价'),
  appliedTime: w('written down at', '落实时间'),
  cancelTime: w('cancelled at', '取消时间'),
  cancelledBy: w('cancelled by', '取消者'),
  reason: w('reason', '原因'),
  frozenReason: w('reason of the freeze', '冻结原因'),
  tokenLifetimeSeconds: w('seconds that a token lasts', '令牌有效期（秒）'),
  rateLimitPerSecond: w('requests a second', '每秒请求上限'),
  operatorName: w('operator', '运营商名称'),
  operatorId: w('id of the operator', '运营商 ID'),
  newOwner: w('new owner', '新的持有人'),
  newOwnerId: w('id of the new owner', '新持有人编号'),
  views: w('views', '视图'),
  callbackUrl: w('callback URL', '回调地址'),
  callbackEvents: w('events that are sent', '回调事件'),
  callbackStopTime: w('callback stopped at', '回调停止时间'),
  callbackStopReason: w('why the callback stopped', '回调停止原因'),
  appIds: w('applications', '所属应用'),
  isSetUp: w('set up', '已设置'),
  source: w('where the account comes from', '账号来源'),
  isLinked: w('linked with single sign-on', '已关联单点登录'),
  hasSecondFactor: w('has a second factor', '已设第二验证因素'),
  signInTime: w('last sign-in', '最近登录'),
  expireTime: w('expires', '到期时间'),
  lastUseTime: w('last use', '最近使用'),
  createdBy: w('made by', '创建者'),
  method: w('signed in by', '登录方式'),
  userAgent: w('browser', '浏览器'),
  address: w('from', '来源地址'),
  kind: w('kind', '种类'),
  act: w('act', '操作'),
  format: w('format', '格式'),
  rows: w('rows', '行数'),
  created: w('created', '新建'),
  updated: w('changed', '更新'),
  existing: w('there already', '已存在'),
  refused: w('refused', '被拒绝'),
  done: w('done', '已完成'),
  dryRun: w('dry run', '试运行'),
  targetAppId: w('to the application', '目标应用'),
  url: w('URL', '地址'),
  responseStatus: w('HTTP status', 'HTTP 状态码'),
  error: w('error', '错误'),
  failure: w('reason of the failure', '失败原因'),
  replayed: w('sent again', '重新发送'),
  timeFrom: w('from', '开始'),
  timeTo: w('to', '结束'),
  count: w('number', '数量'),
  imported: w('taken in', '已导入'),
  unchanged: w('unchanged', '未变化'),
  mode: w('mode', '模式'),
  lastReportFrom: w('last report from', '最近上报（起）'),
  lastReportTo: w('last report to', '最近上报（止）'),
  hasReported: w('has reported', '是否上报过'),
  isPlaced: w('stands at a site', '是否已安放'),
  hasDevices: w('has devices', '是否有设备'),
  isLimited: w('may only set a second factor up', '仅可设置第二验证因素'),
}

/** The name of a member in sentences, or its own name if it has none. Of a path, the last step counts. */
export const memberWord = (path: string, language: Language): string =>
  memberWords[path.split('.').at(-1) ?? path]?.[language] ?? path

/** Steps of a path that are left out, because the next member says enough. */
const silentSteps = new Set([
  'periods',
  'deviceNumber',
  'deviceBattery',
  'DeviceBatteryOutput',
  'rules',
  'set',
  'filter',
])

/** Members that are left out: they repeat another one, or are about how the record is stored. */
const silentMembers = new Set([
  ...['provinceCode', 'cityCode', 'districtCode', 'effectiveAt', 'createTime', 'updateTime', 'lastReportTime'],
  ...['seenTime', 'callbackSecret', 'startTime', 'bytes', 'bytesRead', 'finishTime', 'actor', 'before'],
  ...['confirmedUntil', 'ignoredColumns'],
])

const roles = {
  admin: w('admin', '管理员'),
  operator: w('operator', '运营'),
  viewer: w('viewer', '只读'),
  developer: w('developer', '开发者'),
}
const isOnline = { 1: w('online', '在线'), 2: w('offline', '离线') }

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
  application: { status: { 1: w('normal', '正常'), 2: w('frozen', '已冻结') }, onlineStatus: isOnline },
  operator: {
    role: roles,
    status: { 1: w('active', '启用'), 2: w('disabled', '停用') },
    source: { 1: w('made here', '本平台'), 2: w('single sign-on', '单点登录') },
  },
  operatorKey: { role: roles, status: { 1: w('works', '有效'), 2: w('does not work', '失效') } },
  session: { role: roles },
  billingRule: {
    ruleType: { 1: w('fast charging', '快充'), 2: w('slow charging', '慢充'), 3: w('occupancy', '占位') },
  },
  priceChange: { status: { 1: w('waiting', '等待生效'), 2: w('in force', '已生效'), 3: w('cancelled', '已取消') } },
  delivery: { status: { 1: w('waiting', '等待中'), 2: w('delivered', '已送达'), 3: w('dead', '已失败') } },
}

/** Members that are lists of plain values, which a path shows as one leaf of JSON. */
const listMembers = new Set(['callbackEvents', 'appIds'])

const none = w('none', '无')
const yes = w('yes', '是')
const no = w('no', '否')

/** One difference, in the user's language. The old value is undefined if there is none to compare with. */
export interface Sentence {
  what: string
  before: string | undefined
  after: string
}

const amounts = new Set(['electricityPrice', 'servicePrice', 'unitPrice', 'dailyCap'])
/** Whether a sum is only written in another way: 0.7200 and 0.72. */
const isSameMoney = (member: string, was: string | undefined, is: string | undefined) =>
  amounts.has(member) && was !== undefined && is !== undefined && was !== '' && is !== '' && Number(was) === Number(is)

/** A period's time of day, without seconds if they are zero. */
const shortTime = (time: string) => time.replace(/^(\d\d:\d\d):00$/, '$1')

/** What a member's value means, by the noun that it is of; a value without words as it is. */
export function valueWord(noun: string, member: string, text: string | undefined, language: Language): string {
  if (text === undefined || text === 'null' || text === '' || text === '[]') return none[language]
  if (text === 'true' || text === 'false') return (text === 'true' ? yes : no)[language]
  const known = valueWords[noun]?.[member]?.[text]
  if (known !== undefined) return known[language]
  if (member === 'callbackStopReason' || (member === 'error' && noun === 'delivery'))
    return attemptWords(text, language)
  if (!/^\[.*\]$/.test(text) || !listMembers.has(member)) return text
  const list = JSON.parse(text) as unknown[]
  const shown = list.map((item) => (eventWords as Record<string, Words>)[String(item)]?.[language] ?? String(item))
  return shown.join(language === 'zh' ? '、' : ', ')
}

/**
 * The differences of two records as sentences: `00:00 electricity 0.3800 → 0.9999`. Without an earlier record, the
 * values of the record.
 */
export function sentencesOf(type: string, before: unknown, after: unknown, language: Language): Sentence[] {
  const noun = type.split('.')[0] ?? ''
  return compare(before ?? {}, after).flatMap(({ member: path, before: was, after: is, isChanged }) => {
    const steps = path.split(' ')
    const member = steps.at(-1) ?? ''
    const isEmpty = before === undefined && (is === undefined || is === 'null' || is === '' || is === '[]')
    if (!isChanged || isEmpty || silentMembers.has(member) || isSameMoney(member, was, is)) return []
    const spoken = steps.filter((step) => !silentSteps.has(step))
    const what = spoken.map((step) => memberWords[step]?.[language] ?? shortTime(step)).join(' ')
    const shown = (text: string | undefined) => valueWord(noun, member, text, language)
    return [{ what, before: before === undefined ? undefined : shown(was), after: shown(is) }]
  })
}

/** The names of members that have words. */
export const spokenMembers: ReadonlySet<string> = new Set([
  ...Object.keys(memberWords),
  ...silentMembers,
  ...silentSteps,
])

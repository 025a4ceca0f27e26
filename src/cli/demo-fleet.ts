import type { DeviceBatchRow, PlacementBatchRow, SiteBatchRow, StateReport } from '#sdk/api'
import { divisionName } from '../regions/names.ts'

// Every record follows from its number, so that a second run finds the records of the first.

/** A point at least 1.25 km within the borders of a district, by its code. */
const places: readonly (readonly [code: string, longitude: number, latitude: number])[] = [
  ['110101', 116.4164, 39.9286], // 北京市东城区
  ['110102', 116.366, 39.9125], // 北京市西城区
  ['110105', 116.4634, 39.9215], // 北京市朝阳区
  ['110106', 116.287, 39.8585], // 北京市丰台区
  ['110108', 116.2983, 39.9797], // 北京市海淀区
  ['110114', 116.2312, 40.2207], // 北京市昌平区
  ['120103', 117.226, 39.092], // 天津市河西区
  ['120104', 117.1607, 39.1183], // 天津市南开区
  ['130102', 114.565, 38.06], // 石家庄市长安区
  ['140105', 112.5653, 37.8175], // 太原市小店区
  ['150105', 111.71, 40.79], // 呼和浩特市赛罕区
  ['210202', 121.667, 38.912], // 大连市中山区
  ['220102', 125.36, 43.84], // 长春市南关区
  ['310104', 121.4367, 31.1783], // 上海市徐汇区
  ['310112', 121.3816, 31.113], // 上海市闵行区
  ['310115', 121.5667, 31.2159], // 上海市浦东新区
  ['310114', 121.2655, 31.3749], // 上海市嘉定区
  ['320102', 118.8577, 32.0586], // 南京市玄武区
  ['320105', 118.7117, 32.0034], // 南京市建邺区
  ['320115', 118.8399, 31.9326], // 南京市江宁区
  ['320505', 120.5345, 31.329], // 苏州市虎丘区
  ['320508', 120.6074, 31.3164], // 苏州市姑苏区
  ['330106', 120.1001, 30.2695], // 杭州市西湖区
  ['330108', 120.1919, 30.1884], // 杭州市滨江区
  ['330109', 120.2844, 30.1639], // 杭州市萧山区
  ['330203', 121.525, 29.878], // 宁波市海曙区
  ['340104', 117.2304, 31.8411], // 合肥市蜀山区
  ['340103', 117.2647, 31.8989], // 合肥市庐阳区
  ['350203', 118.1227, 24.4455], // 厦门市思明区
  ['350206', 118.14, 24.518], // 厦门市湖里区
  ['350102', 119.29, 26.085], // 福州市鼓楼区
  ['360102', 115.899, 28.6985], // 南昌市东湖区
  ['360111', 115.9621, 28.6825], // 南昌市青山湖区
  ['370102', 117.0968, 36.6564], // 济南市历下区
  ['370212', 120.5089, 36.1575], // 青岛市崂山区
  ['410102', 113.593, 34.7483], // 郑州市中原区
  ['410105', 113.6905, 34.8003], // 郑州市金水区
  ['420102', 114.3091, 30.6299], // 武汉市江岸区
  ['420106', 114.326, 30.5537], // 武汉市武昌区
  ['420111', 114.4038, 30.5003], // 武汉市洪山区
  ['430102', 113.038, 28.199], // 长沙市芙蓉区
  ['430104', 112.9115, 28.2153], // 长沙市岳麓区
  ['440106', 113.3713, 23.1447], // 广州市天河区
  ['440111', 113.2833, 23.2579], // 广州市白云区
  ['440113', 113.3842, 22.9576], // 广州市番禺区
  ['440303', 114.1517, 22.5684], // 深圳市罗湖区
  ['440304', 114.055, 22.5416], // 深圳市福田区
  ['440305', 113.9405, 22.5533], // 深圳市南山区
  ['440306', 113.8731, 22.6052], // 深圳市宝安区
  ['440307', 114.2478, 22.7209], // 深圳市龙岗区
  ['450103', 108.38, 22.8], // 南宁市青秀区
  ['460106', 110.32, 20.005], // 海口市龙华区
  ['500106', 106.4361, 29.5713], // 重庆市沙坪坝区
  ['500112', 106.6312, 29.7581], // 重庆市渝北区
  ['510104', 104.1033, 30.6161], // 成都市锦江区
  ['510105', 104.0014, 30.6742], // 成都市青羊区
  ['510107', 104.0334, 30.632], // 成都市武侯区
  ['510108', 104.1214, 30.6699], // 成都市成华区
  ['520102', 106.71, 26.56], // 贵阳市南明区
  ['530102', 102.6868, 25.0635], // 昆明市五华区
  ['530103', 102.7419, 25.0761], // 昆明市盘龙区
  ['610112', 108.9268, 34.313], // 西安市未央区
  ['610113', 108.9382, 34.2125], // 西安市雁塔区
  ['620102', 103.86, 36.05], // 兰州市城关区
  ['640104', 106.29, 38.48], // 银川市兴庆区
  ['650104', 87.57, 43.87], // 乌鲁木齐市新市区
]

/** 1.2 km at most, corner to corner. */
const spread = { longitude: 0.009, latitude: 0.0075 }
/** Some 50 m. */
const besideSite = { longitude: 0.0005, latitude: 0.0004 }

export const demoApplications = [
  { appName: '演示·星驰充电', operatorName: '星驰新能源科技有限公司', serialPrefix: 'FDA' },
  { appName: '演示·绿源停车', operatorName: '绿源智慧停车有限公司', serialPrefix: 'FDB' },
  // The host name does not exist, so that the demonstration shows failing deliveries.
  {
    appName: '演示·城投智行',
    operatorName: '城投智行运营有限公司',
    serialPrefix: 'FDC',
    callbackUrl: 'https://forecourt-demo.example.com/callbacks',
  },
] as const

export const demoModels = [
  { serialPrefix: 'FDA', modelName: 'DZ-200 直杆道闸', deviceType: 'barrier', deviceTypeName: '道闸' },
  { serialPrefix: 'FDB', modelName: 'DZ-350 栅栏道闸', deviceType: 'barrier', deviceTypeName: '道闸' },
  { serialPrefix: 'FDC', modelName: 'CW-80 车位地锁', deviceType: 'lock', deviceTypeName: '车位地锁' },
] as const

const dayAndNight = [
  { startTime: '00:00:00', electricityPrice: '0.3800', servicePrice: '0.3000' },
  { startTime: '08:00:00', electricityPrice: '0.9600', servicePrice: '0.4500' },
  { startTime: '12:00:00', electricityPrice: '0.7200', servicePrice: '0.4000' },
  { startTime: '18:00:00', electricityPrice: '1.0800', servicePrice: '0.4500' },
  { startTime: '22:00:00', electricityPrice: '0.3800', servicePrice: '0.3000' },
]
export const demoRules = [
  { ruleName: '快充分时电价', ruleType: 1, periods: dayAndNight },
  { ruleName: '慢充分时电价', ruleType: 2, periods: dayAndNight },
  { ruleName: '超时占位费', ruleType: 3, freeMinutes: 15, unitMinutes: 15, unitPrice: '2.50', dailyCap: '60.00' },
] as const

const landmarks = [
  '人民广场',
  '科技园',
  '会展中心',
  '火车站',
  '体育中心',
  '软件园',
  '大学城',
  '政务中心',
  '图书馆',
  '万达广场',
]
const roads = ['建设路', '中山路', '解放路', '人民路', '文化路', '创业大道', '滨河路', '长江路', '和平路', '新华街']
const kinds = ['充电站', '超级充电站', '公共停车场', '公交充电站']
const families = [
  '王',
  '李',
  '张',
  '刘',
  '陈',
  '杨',
  '赵',
  '黄',
  '周',
  '吴',
  '徐',
  '孙',
  '胡',
  '朱',
  '高',
  '林',
  '何',
  '郭',
  '马',
  '罗',
]
const givenNames = [
  '伟',
  '芳',
  '娜',
  '敏',
  '静',
  '磊',
  '洋',
  '建国',
  '晓明',
  '丽华',
  '志强',
  '雪梅',
  '文博',
  '佳怡',
  '宇航',
  '思远',
]
const doors = [
  '东门入口',
  '西门出口',
  '南门入口',
  '北门出口',
  '地下一层入口',
  '地下一层出口',
  '快充区入口',
  '慢充区入口',
]
const doorOf = (index: number) => doors[index % doors.length] as string
const faults = ['道闸臂未复位', '地感线圈无信号', '控制板通信超时', '电机过热保护', '限位开关异常']
const versions = ['V2.3.1', 'V2.3.4', 'V2.4.0']

/** Makes numbers from 0 to 1, always the same for the same seed. */
export function numbersFrom(seed: number): () => number {
  let state = (seed * 0x9e3779b1) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function pick<Value>(values: readonly Value[], next: () => number): Value {
  return values[Math.floor(next() * values.length)] as Value
}

function near(value: number, most: number, next: () => number): number {
  return Number((value + (next() * 2 - 1) * most).toFixed(6))
}

type RuleIds = Pick<SiteBatchRow, 'fastChargeBillRuleId' | 'rushingBillRuleId' | 'placeholderBillRuleId'>

export function demoSite(index: number, rules: RuleIds): SiteBatchRow {
  const next = numbersFrom(index + 1)
  const [districtCode, longitude, latitude] = places[index % places.length] as (typeof places)[number]
  // How many sites the district has already.
  const round = Math.floor(index / places.length)
  const provinceCode = `${districtCode.slice(0, 2)}0000`
  const cityCode = `${districtCode.slice(0, 4)}00`
  const cityName = divisionName(cityCode) ?? ''
  const districtName = divisionName(districtCode) ?? ''
  const landmark = landmarks[(index + round) % landmarks.length]
  const branch = round < landmarks.length ? '' : `${Math.floor(round / landmarks.length) + 1}号`
  const isOpenAlways = next() < 0.7
  return {
    siteName: `${cityName.replace(/市$/, '')}${districtName.replace(/区$/, '')}${landmark}${pick(kinds, next)}${branch}`,
    contacts: `${pick(families, next)}${pick(givenNames, next)}`,
    contactsPhone: `1380000${String(index % 10_000).padStart(4, '0')}`,
    customerServicePhone: '4000000000',
    businessWeekDay: isOpenAlways ? '周一至周日' : '周一至周五',
    businessStartTime: isOpenAlways ? '00:00:00' : '07:00:00',
    businessClosingTime: isOpenAlways ? '24:00:00' : '22:30:00',
    ...rules,
    provinceCode,
    provinceName: divisionName(provinceCode) ?? '',
    cityCode,
    cityName,
    districtCode,
    districtName,
    detailAddress: `${pick(roads, next)}${1 + Math.floor(next() * 300)}号`,
    coordinates: `${near(longitude, spread.longitude, next)},${near(latitude, spread.latitude, next)}`,
  }
}

export function demoDevice(index: number, serialPrefix: string, appId: string, site: SiteBatchRow): DeviceBatchRow {
  const next = numbersFrom(1_000_000 + index)
  const [longitude = 0, latitude = 0] = site.coordinates?.split(',').map(Number) ?? []
  return {
    // With the application's ID in it, so that a second demonstration elsewhere has other serials.
    deviceNo: `${serialPrefix}${appId.slice(0, 6).toUpperCase()}${String(index + 1).padStart(5, '0')}`,
    deviceName: `${site.siteName} ${doorOf(index)}`.slice(0, 64),
    tag: site.siteName,
    provinceCode: site.provinceCode,
    cityCode: site.cityCode,
    districtCode: site.districtCode,
    detailAddress: site.detailAddress,
    coordinates: `${near(longitude, besideSite.longitude, next)},${near(latitude, besideSite.latitude, next)}`,
  }
}

export function demoPlacement(index: number, deviceNo: string, siteId: number): PlacementBatchRow {
  const laneName = doorOf(index)
  return { deviceNo, siteId, laneType: laneName.endsWith('出口') ? 2 : 1, laneName }
}

export interface DemoState {
  isFaulty: boolean
  isOnline: boolean
}

/** About 2 of 100 devices are faulty at any time, each for some four reports, and 3 of 100 have no network. */
const chances = { fails: 0.005, isMended: 0.25, losesNetwork: 0.03, opens: 0.25, closes: 0.25 }

/** The first report of a run has every field, because an earlier run may have left other values. */
export function nextReport(
  deviceNo: string,
  before: DemoState | undefined,
  random: () => number = Math.random,
): { report: StateReport; state: DemoState } {
  const isOnline = random() >= chances.losesNetwork
  const staysFaulty = before?.isFaulty === true && random() >= chances.isMended
  // The first round makes as many devices faulty as there are on average later.
  const failsFrom = before === undefined ? chances.fails / chances.isMended : chances.fails
  const isFaulty = staysFaulty || (before?.isFaulty !== true && random() < failsFrom)
  const report: StateReport = { deviceNo, onlineStatus: isOnline ? 1 : 2 }
  if (before?.isFaulty !== isFaulty) {
    report.status = isFaulty ? 2 : 1
    report.statusRemark = isFaulty ? pick(faults, random) : null
  }
  const chance = random()
  if (before === undefined) {
    report.runStatus = 0
    report.version = pick(versions, random)
    report.batteryEnergy = `${40 + Math.floor(random() * 60)}%`
  } else if (chance < chances.opens) report.runStatus = 1
  else if (chance < chances.opens + chances.closes) report.runStatus = 0
  return { report, state: { isFaulty, isOnline } }
}

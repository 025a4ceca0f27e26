import { cityCode, districtCode, provinceCode } from './fleet.ts'

type Query = Record<string, string | number>

/** One kind of request; its queries are asked in turn, so that no two in a row are the same. */
export interface Question {
  what: string
  queries: Query[]
}

const each = <Value>(values: Value[], query: (value: Value) => Query) => values.map(query)
export const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)
/** The moment this many hours before the devices are filled, which begins soon after. */
const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
const ranks = (from: number) => Array.from({ length: 20 }, (_, index) => from + index)
const boxes = (size: number) =>
  each(ranks(0), (step) => ({ bbox: [80 + step, 25, 80 + step + size, 25 + Math.min(size, 28)].join(',') }))

/**
 * Values that people and programs look for among a million devices: values that many devices have, some, few and none.
 */
export const filterQuestions: Question[] = [
  { what: 'nothing', queries: [{}, { pageSize: 20 }, { pageSize: 100 }] },
  { what: 'state, many', queries: each([1, 2], (onlineStatus) => ({ onlineStatus })) },
  {
    what: 'state, few',
    queries: each([1, 2], (onlineStatus) => ({ status: 2, onlineStatus, runStatus: 2 })),
  },
  {
    what: 'time, nearly all',
    queries: each(ranks(300), (ago) => ({ timeFrom: `${day(ago)} 00:00:00` })),
  },
  {
    what: 'time, a day',
    queries: each(ranks(100), (ago) => ({
      timeFrom: `${day(ago)} 00:00:00`,
      timeTo: `${day(ago)} 23:59:59`,
    })),
  },
  { what: 'province', queries: each(ranks(0).slice(0, 10), (rank) => ({ provinceCode: provinceCode(rank) })) },
  { what: 'city', queries: each(ranks(0), (rank) => ({ cityCode: cityCode(rank) })) },
  { what: 'district, many', queries: [{ districtCode: districtCode(0) }] },
  { what: 'district, some', queries: each(ranks(10), (rank) => ({ districtCode: districtCode(rank) })) },
  { what: 'district, few', queries: each(ranks(270), (rank) => ({ districtCode: districtCode(rank) })) },
  { what: 'district, only old ones', queries: [{ districtCode: 'oldest' }] },
  { what: 'district, none', queries: each(ranks(400), (rank) => ({ districtCode: districtCode(rank) })) },
  { what: 'model, many', queries: [{ modelName: 'FG-1000' }] },
  { what: 'model, few', queries: each(ranks(1030), (number) => ({ modelName: `FG-${number}` })) },
  { what: 'name, many', queries: each(['gate', 'Garage', '道闸', '湖', 'a'], (deviceName) => ({ deviceName })) },
  {
    what: 'name, some',
    queries: each(['gate 12', 'east garage', '西湖 道闸', '99', '北门 7'], (deviceName) => ({ deviceName })),
  },
  {
    what: 'name, few',
    queries: each(['harbour gate 1234', '人民路 道闸 77', 'Lift Gate 4321'], (deviceName) => ({ deviceName })),
  },
  { what: 'name, none', queries: each(['north pole', '不存在', 'zz', 'q'], (deviceName) => ({ deviceName })) },
  { what: 'serial, all', queries: [{ deviceNo: 'SN-' }] },
  { what: 'serial, some', queries: each(['0A', 'b7', 'ff'], (part) => ({ deviceNo: `SN-${part}` })) },
  { what: 'serial, few', queries: each(['c0ffee', '0DDBA', 'a9b8c'], (deviceNo) => ({ deviceNo })) },
  { what: 'serial, none', queries: each(['XX', 'SN-zz'], (deviceNo) => ({ deviceNo })) },
  { what: 'tag, none', queries: [{ tag: 'no such tag' }] },
  { what: 'box, many', queries: boxes(30) },
  { what: 'box, some', queries: boxes(3) },
  { what: 'box, few', queries: boxes(0.1) },
  { what: 'box, none', queries: [{ bbox: '-10,40,10,50' }] },
  { what: 'silent for a day', queries: [{ lastReportTo: ago(24) }] },
  {
    what: 'silent, in a city',
    queries: each(ranks(0), (rank) => ({ lastReportTo: ago(24), cityCode: cityCode(rank) })),
  },
  { what: 'silent, none', queries: [{ lastReportTo: ago(24 * 400) }] },
  { what: 'reported within an hour', queries: [{ lastReportFrom: ago(1) }, { hasReported: 'true' }] },
  {
    what: 'reported, in a city',
    queries: each(ranks(0), (rank) => ({ lastReportFrom: ago(1), cityCode: cityCode(rank) })),
  },
  { what: 'reported and offline, none', queries: [{ lastReportFrom: ago(1), onlineStatus: 2 }] },
  { what: 'never reported', queries: [{ hasReported: 'false' }] },
  {
    what: 'never reported, in a city',
    queries: each(ranks(0), (rank) => ({ hasReported: 'false', cityCode: cityCode(rank) })),
  },
]

const many = {
  district: { districtCode: districtCode(0) },
  model: { modelName: 'FG-1000' },
  name: { deviceName: 'gate' },
  box: { bbox: '80,20,120,50' },
  online: { onlineStatus: 1 },
  time: { timeFrom: `${day(200)} 00:00:00` },
}
const few = {
  district: { districtCode: districtCode(270) },
  name: { deviceName: 'harbour gate 1234' },
  state: { status: 2, runStatus: 2 },
}

/** Two filters at once. Two common values are the hardest, because each of them alone excludes few devices. */
export const pairQuestions: Question[] = [
  { what: 'district and state, many', queries: [{ ...many.district, ...many.online }] },
  { what: 'district and model, many', queries: [{ ...many.district, ...many.model }] },
  { what: 'name and state, many', queries: [{ ...many.name, ...many.online }] },
  { what: 'name and district, many', queries: [{ ...many.name, ...many.district }] },
  { what: 'name and box, many', queries: [{ ...many.name, ...many.box }] },
  { what: 'box and state, many', queries: [{ ...many.box, ...many.online }] },
  { what: 'model and time, many', queries: [{ ...many.model, ...many.time }] },
  { what: 'name and district, few', queries: [{ ...many.name, ...few.district }] },
  {
    what: 'name and state, few',
    queries: [
      { ...few.name, ...many.online },
      { ...many.name, ...few.state },
    ],
  },
  { what: 'box and state, few', queries: [{ ...many.box, ...few.state }] },
  { what: 'old district and state', queries: [{ districtCode: 'oldest', ...many.online }] },
  { what: 'five filters', queries: [{ ...many.name, ...many.box, ...many.online, ...many.model, ...many.time }] },
]

const sorts = ['createTime', 'deviceNo', 'deviceName', 'modelName', 'cityCode', 'status', 'onlineStatus']
const filtered = { none: {}, many: many.online, few: few.name, silent: { lastReportTo: ago(24) } }

/** Sorted pages: the first ones, deep ones by number, and filtered ones. */
export const sortedQuestions: Question[] = [
  ...sorts.map((sort) => ({
    what: `sorted by ${sort}`,
    queries: [
      { sort, order: 'desc' },
      { sort, order: 'asc', pageSize: 100 },
    ],
  })),
  ...sorts.map((sort) => ({
    what: `sorted by ${sort}, deep`,
    queries: [
      { sort, order: 'desc', pageSize: 100, pageNo: 50 },
      { sort, order: 'asc', pageSize: 100, pageNo: 90 },
    ],
  })),
  ...Object.entries(filtered).map(([what, filter]) => ({
    what: `sorted, ${what}`,
    queries: sorts.map((sort) => ({ sort, order: 'desc', ...filter })),
  })),
]

/** Questions about an application with some hundred devices. */
export const ordinaryQuestions: Question[] = [
  { what: 'nothing', queries: [{}, { pageSize: 100 }] },
  { what: 'district', queries: each(ranks(0), (rank) => ({ districtCode: districtCode(rank) })) },
  { what: 'name', queries: each(['gate', '道闸', 'gate 12', 'north pole'], (deviceName) => ({ deviceName })) },
  { what: 'box and state', queries: [{ ...many.box, ...many.online }] },
]

/** Over all applications, as operators ask. */
export const acrossQuestions: Question[] = filterQuestions.filter(({ what }) =>
  /^(nothing|state|time, a day|district, (many|few|only)|name|serial|box|silent|reported|never)/.test(what),
)

import type { PageKey } from '../../database/page.ts'
import type { DeviceSort } from '../contract.ts'
import type { AddParameter } from '../filter/store.ts'

// The orders of pages of devices: their own, which one index has, and those that a query asks for
// (docs/decisions/0009-device-pages.md).

/** An order of pages. */
export interface PageOrder {
  key: PageKey
  /** The columns of a device that the order compares, with `app_id`, `bound_at` and `device_no`. */
  columnsSql: string
  orderSql: string
  /** SQL: the key of a device as the JSON text of a list of texts. */
  keySql: string
  /** SQL: whether a device comes after a key in this order. */
  isBehindSql(after: readonly string[], add: AddParameter): string
}

// In microseconds since 1970, because their text is the same in every session.
const microsSql = '(extract(epoch from bound_at) * 1000000)::bigint'
const momentSql = (micros: string) => `timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond'`
const byMicros: PageKey[number] = { column: 'bound_micros', type: 'bigint' }
const bySerial: PageKey[number] = { column: 'device_no', type: 'text' }

/** SQL: whether a device of an application comes after a key, in the order newest first. */
export const isBehindSql = (micros: string, deviceNo: string) =>
  `(bound_at, device_no) < (${momentSql(micros)}, ${deviceNo})`

/** By application, then newest first: the order of pages without `sort`. */
export const ownOrder: PageOrder = {
  key: [{ column: 'app_id', type: 'text' }, byMicros, bySerial],
  columnsSql: 'app_id, bound_at, device_no',
  orderSql: 'order by app_id, bound_at desc, device_no desc',
  keySql: `json_build_array(app_id, ${microsSql}::text, device_no)::text`,
  isBehindSql(after, add) {
    const [appId = '', micros = '', deviceNo = ''] = after.map(add)
    return `(app_id > ${appId} or app_id = ${appId} and ${isBehindSql(micros, deviceNo)})`
  },
}

/**
 * What each order compares before the time and the serial; the index holds all of these columns. Texts are compared by
 * code points.
 */
const sortColumns: Record<DeviceSort['by'], string> = {
  createTime: '',
  deviceNo: '',
  deviceName: 'device_name',
  modelName: 'model_name',
  provinceCode: 'province_code',
  cityCode: 'city_code',
  districtCode: 'district_code',
  status: 'status',
  onlineStatus: 'online_status',
  runStatus: 'run_status',
}
const numbers = ['status', 'online_status', 'run_status']

/**
 * The time as the expression of the index `device_by_time`, so that no other statement can be planned with that index.
 */
const timeAcrossSql = "(bound_at at time zone 'UTC')"

/**
 * The order that a query asks for, over all applications alike; `isAcross` if all devices are read. A device without a
 * value comes first.
 */
export function sortedOrder({ by, isDescending }: DeviceSort, isAcross: boolean): PageOrder {
  const column = sortColumns[by]
  const isNumber = numbers.includes(column)
  const first = column === '' ? [] : [isNumber ? column : `coalesce(${column}, '') collate "C"`]
  const key: PageKey = column === '' ? [] : [{ column, type: isNumber ? 'bigint' : 'text' }]
  const isTimeAcross = by === 'createTime' && isAcross
  const times = by === 'deviceNo' ? [] : [isTimeAcross ? timeAcrossSql : 'bound_at']
  const compared = [...first, ...times, 'device_no']
  const texts = [...first.map((value) => `(${value})::text`), ...times.map(() => `${microsSql}::text`), 'device_no']
  return {
    key: [...key, ...times.map(() => byMicros), bySerial],
    columnsSql: ['app_id', 'bound_at', 'device_no', ...key.map((one) => one.column)].join(', '),
    orderSql: `order by ${compared.map((value) => `${value} ${isDescending ? 'desc' : 'asc'}`).join(', ')}`,
    keySql: `json_build_array(${texts.join(', ')})::text`,
    isBehindSql(after, add) {
      const values = after.map(add)
      const timeSql = (micros: string) =>
        isTimeAcross ? `(${momentSql(micros)}) at time zone 'UTC'` : momentSql(micros)
      const bounds = [
        ...first.map((_, at) => (isNumber ? `${values[at]}::bigint` : (values[at] ?? ''))),
        ...times.map((_, at) => timeSql(values[first.length + at] ?? '')),
        values.at(-1) ?? '',
      ]
      return `(${compared.join(', ')}) ${isDescending ? '<' : '>'} (${bounds.join(', ')})`
    },
  }
}

import type { PageKey } from '../../database/page.ts'
import type { DeviceSort } from '../contract.ts'
import type { AddParameter } from '../filter/store.ts'

// Orders of device lists: their own, which an index has, and those of `sort` (docs/decisions/0009-device-pages.md).

export interface PageOrder {
  key: PageKey
  columnsSql: string
  orderSql: string
  keySql: string
  isBehindSql(after: readonly string[], add: AddParameter): string
}

// Microseconds since 1970 have the same text in every session.
const microsSql = '(extract(epoch from bound_at) * 1000000)::bigint'
const momentSql = (micros: string) => `timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond'`
const byMicros: PageKey[number] = { column: 'bound_micros', type: 'bigint' }
const bySerial: PageKey[number] = { column: 'device_no', type: 'text' }

/** SQL: whether an application's device comes after a key, newest first. */
export const isBehindSql = (micros: string, deviceNo: string) =>
  `(bound_at, device_no) < (${momentSql(micros)}, ${deviceNo})`

/** Without `sort`: by application, then newest first. */
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

/** Compared before time and serial. The index holds all of these columns. Texts are compared by code points. */
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

/** An expression of the index `device_by_time`, so that other statements can't be planned with that index. */
const timeAcrossSql = "(bound_at at time zone 'UTC')"

/** Returns the order of `sort`. Devices without a value come first. `isAcross` means that all devices are read. */
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

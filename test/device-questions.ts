// What is asked of the devices of test/device-plans.test.ts, and the same in SQL.

function reportedSql(condition: string): string {
  return `exists (select 1 from device_presence p
    where p.app_id = device.app_id and p.device_no = device.device_no and ${condition})`
}

interface Asked {
  what: string
  query: Record<string, string | number>
  /** The same filter in SQL. */
  condition: string
}

export const questions: Asked[] = [
  { what: 'nothing', query: {}, condition: 'true' },
  { what: 'a state', query: { onlineStatus: 2 }, condition: 'online_status = 2' },
  {
    what: 'a time',
    query: { timeFrom: '2026-01-01 20:00:00', timeTo: '2026-01-01 20:59:59' },
    condition: "bound_at >= '2026-01-01 12:00:00Z' and bound_at < '2026-01-01 13:00:00Z'",
  },
  { what: 'a part of the serial', query: { deviceNo: '7A7' }, condition: "device_no like '%7a7%'" },
  { what: 'a tag', query: { tag: 'south' }, condition: "tag = 'south'" },
  { what: 'every serial', query: { deviceNo: 'SN-' }, condition: 'true' },
  { what: 'a part of most names', query: { deviceName: 'GATE' }, condition: "device_name like '%gate%'" },
  { what: 'a part of some names', query: { deviceName: 'gate 77' }, condition: "device_name like '%gate 77%'" },
  { what: 'a Chinese part', query: { deviceName: '湖' }, condition: "device_name like '%湖%'" },
  { what: 'a part of no name', query: { deviceName: 'north' }, condition: 'false' },
  { what: 'a city', query: { cityCode: '77' }, condition: "city_code = '77'" },
  { what: 'what only old devices have', query: { districtCode: 'oldest' }, condition: "district_code = 'oldest'" },
  {
    what: 'a box',
    query: { bbox: '10,10,20,20' },
    condition: `split_part(coordinates, ',', 1)::float between 10 and 20
      and split_part(coordinates, ',', 2)::float between 10 and 20`,
  },
  {
    what: 'a part of the name and a state',
    query: { deviceName: 'east', onlineStatus: 1, runStatus: 1 },
    condition: "device_name like 'East%' and online_status = 1 and run_status = 1",
  },
  {
    what: 'a report in March',
    query: { lastReportFrom: '2026-03-01T00:00:00Z' },
    condition: reportedSql("reported_at >= '2026-03-01 00:00:00Z'"),
  },
  {
    what: 'a long silence',
    query: { lastReportTo: '2026-01-01 20:00:00' },
    condition: reportedSql("reported_at < '2026-01-01 12:00:01Z'"),
  },
  {
    what: 'a long silence in a city',
    query: { lastReportTo: '2026-02-01 00:00:00', cityCode: '77' },
    condition: `city_code = '77' and ${reportedSql("reported_at < '2026-02-01'")}`,
  },
  { what: 'a longer silence', query: { lastReportTo: '2025-01-01 00:00:00' }, condition: 'false' },
  { what: 'any report', query: { hasReported: 'true' }, condition: reportedSql('true') },
  { what: 'no report', query: { hasReported: 'false' }, condition: `not ${reportedSql('true')}` },
]

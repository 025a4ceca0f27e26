import { expect, test } from 'bun:test'
import { operations } from '../../src/reference/operations.ts'
import { getHealth, getMetrics, getOpenApi, getReadiness } from '../../src/service/contract.ts'
import { refusals as kinds } from '../../src/vocabulary/refusals.ts'
import { newApplication } from '../kit/records.ts'
import { client, createDeviceOf, expectSuccess, saveSiteOf } from './support.ts'

test('GET /healthz says that the process is alive, to anyone, whatever token is sent', async () => {
  expect(getHealth.path).toBe('/healthz')
  for (const token of [undefined, 'wrong', client.operatorKey]) {
    expect(expectSuccess(await client.call('getHealth', {}, { token }))).toEqual({ alive: true })
  }
})

test('GET /readyz says that the service is ready, each check by name, to anyone, whatever token is sent', async () => {
  expect(getReadiness.path).toBe('/readyz')
  for (const token of [undefined, 'wrong', client.operatorKey]) {
    const { ready, checks } = expectSuccess(await client.call('getReadiness', {}, { token }))
    expect([ready, checks.filter(({ ok }) => !ok)]).toEqual([true, []])
    const names = checks.map(({ name }) => name).join(' ')
    expect(names).toMatch(/database/)
    expect(names).toMatch(/migrat/)
  }
})

async function metrics(): Promise<string> {
  const answer = await client.operate('getMetrics', {})
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
  expect(answer.headers.get('x-request-id')).toMatch(/^\S+$/)
  return answer.text
}

/** The value of the first sample whose name and labels contain all of these texts. */
function sample(text: string, ...parts: string[]): number {
  const line = text.split('\n').find((line) => !line.startsWith('#') && parts.every((part) => line.includes(part)))
  return Number(line?.split(' ').at(-1) ?? 0)
}

test('/metrics is Prometheus text: every line is empty, a comment or a sample', async () => {
  const text = await metrics()
  expect(text).toEndWith('\n')
  for (const line of text.split('\n')) {
    expect(line).toMatch(
      /^(|# (HELP|TYPE) \w+ .+|\w+(\{(\w+="([^"\\]|\\["\\n])*",?)*\})? (-?[\d.e+-]+|\+Inf|-Inf|NaN))$/,
    )
  }
})

test('/metrics counts requests by operation and code, with their latencies, and the sizes of batches by lane', async () => {
  const application = await newApplication(client)
  const count = (text: string, code: number) =>
    sample(text, 'requests_total', 'operation="createDevice"', `code="${code}"`)
  const before = await metrics()
  for (let index = 0; index < 3; index++) expectSuccess(await createDeviceOf(application))
  expectSuccess(await saveSiteOf(application))
  await createDeviceOf(application, { deviceNo: '' })
  const after = await metrics()
  expect(count(after, 0) - count(before, 0)).toBeGreaterThanOrEqual(3)
  expect(count(after, 10001) - count(before, 10001)).toBeGreaterThanOrEqual(1)
  expect(sample(after, 'duration_seconds_count', 'operation="createDevice"')).toBeGreaterThan(0)
  expect(sample(after, 'duration_seconds_bucket', 'le="+Inf"', 'operation="createDevice"')).toBeGreaterThan(0)
  for (const lane of ['devices', 'sites']) {
    expect(sample(after, 'batch_size_count', `lane="${lane}"`)).toBeGreaterThan(0)
  }
})

test('/metrics tells what runs, and what its process, queues, database and disk are like', async () => {
  expect(getMetrics.path).toBe('/metrics')
  const text = await metrics()
  expect(text).toMatch(/^forecourt_build_info\{version="\d+\.\d+\.\d+[^"]*",runtime="(Bun|Node) \d+\.\d+\.\d+"\} 1$/m)
  for (const name of ['forecourt_ready', 'forecourt_database_up', 'forecourt_database_writable']) {
    expect(text).toMatch(new RegExp(`^${name} 1$`, 'm'))
  }
  const disk = /^forecourt_disk_free_bytes\{of="(database|data_folder)"\}/m.exec(text)?.[1]
  const atLeast: [string, number][] = [
    ['process_cpu_seconds_total', 0.01],
    ['process_resident_memory_bytes', 10_000_000],
    ['process_start_time_seconds', 1_700_000_000],
    ['process_open_fds', 3],
    ['process_max_fds', 100],
    ['forecourt_event_loop_delay_seconds_count', 1],
    ['forecourt_database_wait_seconds{pool="creates"}', 0],
    ['forecourt_database_connections{state="idle"}', 1],
    ['forecourt_database_size_bytes', 5_000_000],
    [`forecourt_disk_free_bytes{of="${disk}"}`, 1_000_000],
    [`forecourt_disk_size_bytes{of="${disk}"}`, 1_000_000],
    ['forecourt_callback_endpoints{state="on"}', 0],
    ['forecourt_callback_waiting_events{state="held"}', 0],
    ...['devices', 'sites', 'states'].flatMap((lane): [string, number][] => [
      [`forecourt_queue_length{lane="${lane}"}`, 0],
      [`forecourt_queue_age_seconds{lane="${lane}"}`, 0],
    ]),
  ]
  for (const [name, least] of atLeast) {
    const line = text.split('\n').find((line) => line.startsWith(`${name} `))
    expect([name, Number(line?.split(' ').at(-1)) >= least]).toEqual([name, true])
  }
})

test('every count that /metrics can know of begins at 0, so that its first increase is seen', async () => {
  const text = await metrics()
  for (const { id, refusals } of operations) {
    for (const code of [0, ...refusals.map((name) => kinds[name].code)]) {
      expect(text).toContain(`\nforecourt_requests_total{operation="${id}",code="${code}"} `)
    }
  }
  for (const outcome of ['succeeded', 'refused', 'locked']) {
    expect(text).toContain(`\nforecourt_sign_ins_total{outcome="${outcome}"} `)
  }
  expect(text).toContain('\nforecourt_rate_limited_total{app_id="other"} ')
  expect(text).toContain('\nforecourt_database_errors_total{class="connection"} ')
})

test('/metrics counts what was over the rate of an application', async () => {
  const limited = (text: string) =>
    sample(text, `forecourt_rate_limited_total{app_id="${application.appId}"}`) +
    sample(text, 'forecourt_rate_limited_total{app_id="other"}')
  const application = await newApplication(client, { rateLimitPerSecond: 1 })
  const before = await metrics()
  const burst = await Promise.all(Array.from({ length: 10 }, () => client.call('createDevice', {}, application)))
  expect(burst.filter(({ code }) => code === 10007)).not.toEqual([])
  expect(limited(await metrics()) - limited(before)).toBeGreaterThanOrEqual(1)
})

test('/metrics names no application, serial or unknown path', async () => {
  const application = await newApplication(client)
  const device = expectSuccess(await createDeviceOf(application))
  await client.send(`/nowhere/${device.deviceNo}`, {})
  const text = await metrics()
  expect(text).not.toContain(application.appId)
  expect(text).not.toContain(device.deviceNo)
})

test('GET /openapi.json is the OpenAPI document of every operation, to anyone', async () => {
  expect(getOpenApi.path).toBe('/openapi.json')
  const answer = await client.call('getOpenApi', {})
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  const { openapi, paths } = JSON.parse(answer.text) as { openapi: string; paths: Record<string, object> }
  expect(openapi).toMatch(/^3\.1\.\d+$/)
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(described.sort()).toEqual(operations.map(({ method, path }) => `${method} ${path}`).sort())
})

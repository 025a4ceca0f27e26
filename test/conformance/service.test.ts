import { expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { operations } from '../../src/reference/operations.ts'
import { getHealth, getMetrics, getOpenApi, getReadiness } from '../../src/service/contract.ts'
import { newApplication } from '../harness.ts'
import { contractRefusals } from './refusals.ts'
import { client, createDeviceOf, expectRefusal, expectSuccess, saveSiteOf } from './support.ts'

test('GET /healthz says that the process is alive, to anyone', async () => {
  expect(getHealth.path).toBe('/healthz')
  expect(expectSuccess(await client.call(getHealth, {}))).toEqual({ alive: true })
})

test('GET /readyz says that the service is ready, each check by name, to anyone', async () => {
  expect(getReadiness.path).toBe('/readyz')
  const { ready, checks } = expectSuccess(await client.call(getReadiness, {}))
  expect(ready).toBe(true)
  const names = checks.map(({ name }) => name).join(' ')
  expect(names).toMatch(/database/)
  expect(names).toMatch(/migrat/)
  for (const check of checks) expect(check.ok).toBe(true)
})

test('the probes care for no token, valid or not', async () => {
  for (const token of ['wrong', client.operatorKey]) {
    expectSuccess(await client.call(getHealth, {}, { token }))
    expectSuccess(await client.call(getReadiness, {}, { token }))
  }
})

async function metrics(): Promise<string> {
  const answer = await client.operate(getMetrics, {})
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
  expect(answer.headers.get('x-request-id')).toMatch(/^\S+$/)
  return answer.text
}

/** The value of a sample whose name and labels hold all of these. */
function sample(text: string, ...parts: string[]): number {
  const line = text.split('\n').find((line) => !line.startsWith('#') && parts.every((part) => line.includes(part)))
  return Number(line?.split(' ').at(-1) ?? 0)
}

test('GET /metrics is for operators only', async () => {
  expect(getMetrics.path).toBe('/metrics')
  expectRefusal(await client.call(getMetrics, {}), 'tokenInvalid')
  expectRefusal(await client.call(getMetrics, {}, { token: 'A'.repeat(43) }), 'tokenInvalid')
  const { token } = await newApplication(client)
  expectRefusal(await client.call(getMetrics, {}, { token }), 'notPermitted')
})

test('/metrics is Prometheus text: every line is empty, a comment or a sample', async () => {
  const text = await metrics()
  expect(text).toEndWith('\n')
  for (const line of text.split('\n')) {
    expect(line).toMatch(/^(|# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)*\})? (-?[\d.e+-]+|\+Inf|-Inf|NaN))$/)
  }
})

test('/metrics counts requests by operation and code', async () => {
  const application = await newApplication(client)
  const count = (text: string, code: number) =>
    sample(text, 'requests_total', 'operation="createDevice"', `code="${code}"`)
  const before = await metrics()
  for (let index = 0; index < 3; index++) expectSuccess(await createDeviceOf(application))
  await createDeviceOf(application, { deviceNo: '' })
  const after = await metrics()
  expect(count(after, 0) - count(before, 0)).toBeGreaterThanOrEqual(3)
  expect(count(after, 10001) - count(before, 10001)).toBeGreaterThanOrEqual(1)
})

test('/metrics has latency histograms by operation', async () => {
  expectSuccess(await createDeviceOf(await newApplication(client)))
  const text = await metrics()
  expect(sample(text, 'duration_seconds_count', 'operation="createDevice"')).toBeGreaterThan(0)
  expect(sample(text, 'duration_seconds_bucket', 'le="+Inf"', 'operation="createDevice"')).toBeGreaterThan(0)
})

test('/metrics has batch sizes by lane', async () => {
  const application = await newApplication(client)
  expectSuccess(await createDeviceOf(application))
  expectSuccess(await saveSiteOf(application))
  const text = await metrics()
  expect(sample(text, 'batch_size_count', 'lane="devices"')).toBeGreaterThan(0)
  expect(sample(text, 'batch_size_count', 'lane="sites"')).toBeGreaterThan(0)
})

/** The names of all metrics, with their labels where there are some. */
async function sampleNames(): Promise<string[]> {
  const samples = (await metrics()).split('\n').filter((line) => /^\w/.test(line))
  return [...new Set(samples.map((line) => line.slice(0, line.lastIndexOf(' '))))].filter(
    (name) => !name.includes('_bucket'),
  )
}

test('/metrics has the length of each queue', async () => {
  const queues = (await sampleNames()).filter((name) => name.includes('queue'))
  expect(queues.some((name) => name.includes('devices'))).toBe(true)
  expect(queues.some((name) => name.includes('sites'))).toBe(true)
})

test('/metrics has the connection pool', async () => {
  expect((await sampleNames()).filter((name) => /pool|connections/.test(name))).not.toEqual([])
})

test('/metrics names no application, serial or unknown path', async () => {
  const application = await newApplication(client)
  const device = expectSuccess(await createDeviceOf(application))
  await client.send(`/nowhere/${device.deviceNo}`, {})
  const text = await metrics()
  expect(text).not.toContain(application.appId)
  expect(text).not.toContain(device.deviceNo)
})

interface OpenApi {
  openapi: string
  paths: Record<
    string,
    Record<string, { operationId: string; requestBody?: unknown; responses: Record<string, unknown> }>
  >
}

async function openApi(): Promise<OpenApi> {
  const answer = await client.call(getOpenApi, {})
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  return JSON.parse(answer.text)
}

/** A part of the document as text, with its components in the places where they are named. */
function unfolded(document: object, part: unknown): string {
  return JSON.stringify(part).replaceAll(/\{"\$ref":"#\/([^"]+)"/g, (_, path: string) => {
    const named = path.split('/').reduce((at, name) => (at as Record<string, unknown>)[name], document as unknown)
    return `{"of":${unfolded(document, named)}`
  })
}

test('GET /openapi.json is an OpenAPI 3.1 document of every operation, to anyone', async () => {
  expect(getOpenApi.path).toBe('/openapi.json')
  const document = await openApi()
  expect(document.openapi).toMatch(/^3\.1\.\d+$/)
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`),
  )
  expect(described.sort()).toEqual(operations.map(({ id, method, path }) => `${id} ${method} ${path}`).sort())
})

test('/openapi.json shows the documented fields of both documented operations', async () => {
  const document = await openApi()
  const { paths } = document
  const device = unfolded(document, paths[createDevice.path])
  for (const field of [
    'deviceNo',
    'districtCode',
    'deviceBattery',
    'DeviceBatteryOutput',
    'batteryEnergy',
    'statusRemark',
  ]) {
    expect(device).toContain(`"${field}"`)
  }
  const site = unfolded(document, paths['/api/charging/v1/siteManageThird/save'])
  for (const field of ['siteName', 'rushingBillRuleId', 'businessClosingTime', 'longitude', 'ipcIds']) {
    expect(site).toContain(`"${field}"`)
  }
})

test('/openapi.json lists the refusals of create device with their statuses', async () => {
  const document = await openApi()
  const responses = document.paths[createDevice.path]?.post?.responses ?? {}
  for (const name of ['applicationOffline', 'deviceBoundElsewhere', 'deviceAlreadyYours', 'deviceUnknown'] as const) {
    const { code, status } = contractRefusals[name]
    expect(unfolded(document, responses[String(status)])).toContain(String(code))
  }
})

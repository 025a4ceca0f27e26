import { describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskBounds } from '../src/service/disk.ts'
import { target } from './kit/client.ts'
import { projectFolder } from './kit/folders.ts'

// The Prometheus rules and Grafana dashboards name only metrics that exist, and both pages describe every metric.

const client = await target()
const deploy = (path: string) => join(projectFolder, 'deploy', path)
const read = (path: string) => readFileSync(path, 'utf8')
const alerts = ['alerts', 'fleet-alerts'].map((name) => read(deploy(`prometheus/${name}.yaml`))).join('\n')
const guides = ['docs/monitoring.md', 'docs/zh/monitoring.md']

const metrics = async () => (await client.operate('getMetrics', {})).text
/** The names of the metrics in a text, without the suffixes that a histogram adds. */
const namesIn = (text: string) =>
  [...new Set(text.match(/\b(forecourt|process)_[a-z_]+\b/g))]
    .map((name) => name.replace(/_(bucket|sum|count)$/, ''))
    .filter((name) => !name.endsWith('_'))
    .sort()
const shown = async () => [...(await metrics()).matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name)
const alertNames = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)

test('every metric of the alerts and of the dashboard is one that the service shows', async () => {
  const queries = [...read(deploy('grafana/forecourt.json')).matchAll(/"(?:expr|query)": "(.*)"/g)].map(([, q]) => q)
  expect(queries.length).toBeGreaterThan(30)
  // Annotations name settings and labels.
  const expressions = alerts.replaceAll(/^.*(summary|alert|name|link):.*$/gm, '').replaceAll(/^ *#.*$/gm, '')
  const all = await shown()
  for (const name of namesIn(`${expressions} ${queries.join(' ')}`)) expect(all).toContain(name)
})

test.each(guides)('%s tells every metric, every alert, and nothing else', async (path) => {
  const guide = read(join(projectFolder, path))
  const [, table = ''] = guide.split(/^## /m)
  expect(namesIn(table.replaceAll(/^(?!\| `).*$/gm, ''))).toEqual((await shown()).sort())
  const told = [...guide.matchAll(/^\| (Forecourt\w+) \|/gm)].map(([, name = '']) => name)
  expect(told).toEqual(alertNames)
})

test('every alert is tried, on what it is for and on a service in order', () => {
  const tests = read(deploy('prometheus/alerts-test.yaml')) + read(deploy('prometheus/fleet-alerts-test.yaml'))
  for (const name of alertNames) expect(tests).toContain(`alertname: ${name}\n`)
  for (const name of alertNames) expect(tests).toContain(`alertname: ${name}, exp_alerts: []`)
})

test('the alerts on the disk judge by the figures of doctor, of the overview and of the page “Service”', () => {
  const [full = '', soon = '', little = ''] = ['ForecourtDiskFull', 'ForecourtDiskFullSoon', 'ForecourtDiskLittle'].map(
    (name) => new RegExp(`- alert: ${name}\\n *expr: (?:\\|\\n)?([^]*?)\\n *for:`).exec(alerts)?.[1] ?? '',
  )
  const bound = (expression: string) => Number(/ < (\S+)$/.exec(expression)?.[1])
  expect([bound(full), bound(soon), bound(little)]).toEqual([
    diskBounds.leastFreeBytes,
    diskBounds.fewDays,
    diskBounds.littleFreeBytes,
  ])
  for (const expression of [full, soon, little]) expect(expression).toContain('of="database"')
})

// promtool and amtool are part of Debian’s packages `prometheus` and `prometheus-alertmanager`.
const has = (program: string) => Bun.which(program) !== null
const run = (program: string, args: string[], input = '') => {
  const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8' })
  return { status, said: `${stdout}${stderr}` }
}

test.skipIf(!has('promtool'))('promtool finds no fault with the rules, their tests, and the metrics', async () => {
  for (const args of [
    ['check', 'rules', deploy('prometheus/alerts.yaml'), deploy('prometheus/fleet-alerts.yaml')],
    ['test', 'rules', deploy('prometheus/alerts-test.yaml'), deploy('prometheus/fleet-alerts-test.yaml')],
    ['check', 'config', '--syntax-only', deploy('prometheus/prometheus.yaml')],
    ['check', 'config', '--syntax-only', deploy('prometheus/prometheus-compose.yaml')],
  ]) {
    const { status, said } = run('promtool', args)
    expect([status, said]).toEqual([0, expect.stringContaining('SUCCESS')])
    expect(said).not.toContain('FAILED')
  }
  expect(run('promtool', ['check', 'metrics'], await metrics())).toEqual({ status: 0, said: '' })
})

test('Alertmanager’s container works where its secrets are', () => {
  const [, service = ''] = /^ {2}alertmanager:\n((?: {4}.*\n)+)/m.exec(read(deploy('compose.yaml'))) ?? []
  const [, folder = ''] = /working_dir: (\S+)/.exec(service) ?? []
  expect(service).toContain(`:${folder}/secrets:ro`)
  expect(service).toContain(`--config.file=${folder}/alertmanager.yaml`)
})

describe.skipIf(!has('amtool'))('amtool', () => {
  const config = deploy('alertmanager/alertmanager.yaml')

  test('finds no fault with the configuration', () => {
    expect(run('amtool', ['check-config', config])).toEqual({ status: 0, said: expect.stringContaining('SUCCESS') })
  })

  test('sends each alert to people', () => {
    for (const severity of ['critical', 'warning', 'info']) {
      const labels = ['alertname=ForecourtSiteUnreachable', 'app_id=a', 'city=b', `severity=${severity}`]
      expect(run('amtool', ['config', 'routes', 'test', `--config.file=${config}`, ...labels]).said).toStartWith(
        'mail\n',
      )
    }
  })

  test.each(['en', 'zh'])(
    'a route of one application (guide, %s) takes its alerts from nobody with `continue`',
    (language) => {
      const guide = read(join(projectFolder, `docs/guides/${language}/alerts.md`))
      const [, route = '', receiver = ''] = /^ {2}routes:\n( +- matchers:.*?)receivers:\n(.*?)```/ms.exec(guide) ?? []
      const folder = mkdtempSync(join(tmpdir(), 'forecourt-'))
      const file = join(folder, 'alertmanager.yaml')
      const text = read(config)
        .replace('  routes:\n', `  routes:\n${route}      continue: true\n`)
        .replace('receivers:\n', `receivers:\n${receiver}`)
      writeFileSync(file, text)
      for (const [appId, sent] of [
        ['app_7K2M', 'partner,mail'],
        ['app_other', 'mail'],
      ])
        for (const severity of ['critical', 'warning']) {
          const labels = [`app_id=${appId}`, `severity=${severity}`]
          const { said } = run('amtool', ['config', 'routes', 'test', `--config.file=${file}`, ...labels])
          expect(said).toStartWith(`${sent}\n`)
        }
      rmSync(folder, { recursive: true })
    },
  )
})

test('an alert that holds others back lasts longer than they do, so that only its end is sent', () => {
  const minutesOf = (name: string) =>
    Number(new RegExp(`- alert: ${name}\n(?:(?!- alert)[^])*?keep_firing_for: (\\d+)m`).exec(alerts)?.[1])
  const silent = minutesOf('ForecourtApplicationSilent')
  expect(silent).toBeGreaterThan(minutesOf('ForecourtSiteUnreachable'))
  expect(silent).toBeGreaterThan(minutesOf('ForecourtDeviceFaulty'))
})

// What the create of a site that names a billing rule costs, compared with another checkout at the same time.
//
//   bun bench/site-creates.ts --against FOLDER [--rounds 15] [--seconds 3] [--connections 64]
//
// Both are loaded at once, each on a PostgreSQL of its own, so that other work on the machine affects both alike: what
// counts is the ratio of their processor times. With this checkout itself as FOLDER, it shows how much two figures of
// the same code differ.
import { saveBillingRule } from '../src/billing-rules/contract.ts'
import { saveSite } from '../src/sites/contract.ts'
import { Client, siteBody } from '../test/harness.ts'
import { type Cluster, startCluster } from './cluster.ts'
import type { Work } from './load.ts'
import { type Figure, measure, median, medianFigure } from './measure.ts'
import { runBench } from './program.ts'
import { figureHeadings, figureRow, showFigure, table, tellProgress, totalMicros } from './report.ts'
import { serialPlaceholder } from './serials.ts'
import { type Registry, startForecourt } from './servers.ts'

/** Creates of sites that all name one billing rule. */
async function siteCreates({ url, appId, token }: Registry): Promise<Work> {
  const periods = [{ startTime: '00:00:00', electricityPrice: '0.65', servicePrice: '0.8' }]
  const client = new Client({ url: new URL(url).origin, operatorKey: '' })
  const rule = await client.call(saveBillingRule, { appId, ruleName: 'rule', ruleType: 1, periods }, { token })
  if (rule.code !== 0) throw new Error(rule.text)
  return {
    script: 'create.lua',
    env: {
      BENCH_BODY: JSON.stringify(siteBody(appId, { siteName: serialPlaceholder, fastChargeBillRuleId: rule.data.id })),
      BENCH_PLACEHOLDER: serialPlaceholder,
      BENCH_SERIALS: 'scattered',
    },
    url: new URL(saveSite.path, url).href,
    event: 'site.created',
    eventPercent: 100,
  }
}

await runBench(async ({ cluster, options, keep }) => {
  const { against } = options
  if (against === undefined) throw new Error('--against FOLDER is missing: another checkout, ready to run.')
  const start = async (name: string, on: Cluster, checkout?: string) => {
    const server = await keep(startForecourt(name, 'bun', await on.createDatabase('sites'), {}, checkout))
    return { on, server, work: await siteCreates(server), figures: [] as Figure[] }
  }
  const here = await start('this checkout', cluster)
  const there = await start(against, await keep(startCluster()), against)
  for (let round = 0; round < options.rounds; round++) {
    await Promise.all(
      [here, there].map(async ({ on, server, work, figures }) => {
        const figure = await measure(on, server, options, work)
        figures.push(figure)
        tellProgress(round, server.name, showFigure(figure))
      }),
    )
  }
  const rows = [here, there].map(({ server, figures }) => {
    const figure = medianFigure(figures)
    return [...figureRow(server.name, figure), figure.walBytes.toFixed(0)]
  })
  process.stdout.write(`${table([...figureHeadings, 'log bytes'], rows)}\n`)
  const ratios = here.figures.map((figure, round) => totalMicros(figure) / totalMicros(there.figures[round] as Figure))
  const sorted = ratios.toSorted((a, b) => a - b)
  const quarter = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(3)
  process.stdout.write(
    `Processor time of a create, this one to the other, by rounds: median ${median(ratios).toFixed(3)}, half of them from ${quarter(0.25)} to ${quarter(0.75)}\n`,
  )
})

import { Link } from 'react-router'
import type { Static } from 'typebox'
import type { FindingRecord } from '../../../src/service/contract.ts'
import { getServiceDetail } from '../../../src/service/detail/contract.ts'
import type { getOverview } from '../../../src/service/overview/contract.ts'
import type { RecordCode } from '../../../src/vocabulary/findings.ts'
import { useMay } from '../api/api.ts'
import { eventsOnly } from '../deliveries/filter.ts'
import { paths } from '../paths.ts'
import { useSentences, valuesOf } from '../service/sentences.ts'
import { Nothing } from '../ui/page/nothing.tsx'
import { Rows } from '../ui/table/rows.tsx'
import { grouped } from '../ui/text/number.ts'
import { State } from '../ui/text/status.tsx'
import { useTexts } from './texts.ts'

const tones = { fail: 'bad', warn: 'warn', ok: 'good' } as const

type Counts = Static<typeof getOverview.data>['counts']

interface AttentionProps {
  findings: FindingRecord[]
  counts: Counts
}

/** The findings that need attention, faults first. A kind with more findings than are shown has a link to all of them. */
export function Attention({ findings, counts }: AttentionProps) {
  const t = useTexts()
  const { sentence } = useSentences()
  const lead = useLead()
  return (
    <>
      <Rows<FindingRecord>
        label={t('troubles')}
        isSmall
        rowKey={(finding) => JSON.stringify(finding)}
        rows={findings}
        empty={<Nothing words={t('noTroubles')} />}
        columns={[
          {
            key: 'type',
            title: t('event'),
            most: 300,
            render: (finding) => {
              const to = lead(finding)
              const words = <State tone={tones[finding.status]}>{sentence(finding)}</State>
              return to === undefined ? words : <Link to={to}>{words}</Link>
            },
          },
          { key: 'where', title: t('where'), most: 140, render: (finding) => <Where finding={finding} /> },
        ]}
      />
      <Rest findings={findings} counts={counts} />
    </>
  )
}

/** The service returns at most this many applications, this many sites and this many jobs. */
const mostShown = 10

const ofApplications: readonly string[] = [
  'callbackStopped',
  'callbackFailing',
  'callbackDead',
  'deviceFaulty',
] satisfies RecordCode[]
const ofSites: readonly string[] = ['siteUnreachable'] satisfies RecordCode[]
const ofJobs: readonly string[] = ['importFailed', 'actFailed'] satisfies RecordCode[]

/** Links to all of each kind of which the service tells no more than a part. */
function Rest({ findings, counts }: AttentionProps) {
  const t = useTexts()
  const of = (codes: readonly string[]) => findings.filter(({ code }) => codes.includes(code))
  const applications = new Set(of(ofApplications).map((finding) => valuesOf(finding).appId))
  const isCut = {
    applications: applications.size >= mostShown && counts !== null,
    sites: of(ofSites).length >= mostShown,
    jobs: of(ofJobs).length >= mostShown,
  }
  const count = (name: 'callbacksStopped' | 'callbacksHeld' | 'callbacksDead' | 'devicesFaulty') => counts?.[name] ?? 0
  const links = [
    ...(isCut.applications
      ? [
          { key: 'allStopped', count: count('callbacksStopped'), to: paths.applications() },
          { key: 'allHeld', count: count('callbacksHeld'), to: paths.deliveries({ status: 1, type: eventsOnly }) },
          { key: 'allDead', count: count('callbacksDead'), to: paths.deliveries({ status: 3, type: eventsOnly }) },
          { key: 'allFaulty', count: count('devicesFaulty'), to: paths.devices({ status: 2 }) },
        ].filter((link) => link.count > 0)
      : []),
    ...(isCut.sites ? [{ key: 'allGates', to: paths.devices({ status: 2, onlineStatus: 2, isPlaced: 'true' }) }] : []),
    ...(isCut.jobs
      ? [
          { key: 'allImports', to: paths.imports({ status: 4 }) },
          { key: 'allActs', to: paths.acts({ status: 4 }) },
        ]
      : []),
  ] as { key: 'allDead'; count?: number; to: string }[]
  if (links.length === 0) return null
  return (
    <>
      <p className="faint spaced-little">{t('mostShown', { count: mostShown })}</p>
      <ul style={{ margin: 0, paddingInlineStart: 20 }}>
        {links.map(({ key, count = 0, to }) => (
          <li key={key}>
            <Link to={to}>{t(key, { count: grouped(count) })}</Link>
          </li>
        ))}
      </ul>
    </>
  )
}

/** Returns the page that a finding links to; undefined if the user may not see that page. */
function useLead(): (finding: FindingRecord) => string | undefined {
  const may = useMay()
  const ofService = may(getServiceDetail) ? paths.service() : undefined
  return (finding) => {
    const { appId = '', siteId, id } = valuesOf(finding)
    switch (finding.code as RecordCode) {
      case 'callbackStopped':
      case 'callbackFailing':
        return paths.application(appId, 'callback')
      case 'callbackDead':
        return paths.deliveries({ appId, status: 3, type: eventsOnly })
      case 'deviceFaulty':
        return paths.devices({ appId, status: 2 })
      case 'siteUnreachable':
        return paths.site(appId, Number(siteId))
      case 'importFailed':
        return paths.import(Number(id))
      case 'actFailed':
        return paths.act(Number(id))
      default:
        return ofService
    }
  }
}

function Where({ finding }: { finding: FindingRecord }) {
  const t = useTexts()
  const { appId, appName, siteId, siteName, kind } = valuesOf(finding)
  if (appId === undefined) return kind === undefined ? t('thisService') : t('inventory')
  if (siteId === undefined) return <Link to={paths.application(appId)}>{appName}</Link>
  return <Link to={paths.site(appId, Number(siteId))}>{siteName}</Link>
}

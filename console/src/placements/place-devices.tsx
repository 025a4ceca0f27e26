import { Checkbox, Form, Input } from 'antd'
import { useId, useRef, useState } from 'react'
import { pageDevices } from '../../../src/devices/contract.ts'
import { savePlacements, suggestPlacements } from '../../../src/devices/placement/contract.ts'
import type { SiteRecord } from '../../../src/sites/contract.ts'
import { newIdempotencyKey, useAttempt, useRead, useWrite } from '../api/api.ts'
import { useTypedSearch } from '../ui/filter/search.tsx'
import { FormDrawer } from '../ui/form/record-form.tsx'
import { Button } from '../ui/page/button.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { Note } from '../ui/page/note.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { State } from '../ui/text/status.tsx'
import { type LaneDraft, LaneFields } from './lane-fields.tsx'
import { useTexts } from './texts.ts'

/** The most rows of a batch. */
const batchRows = 1000

interface Outcome {
  deviceNo: string | null
  code: number
  msg: string
}

interface PlaceDevicesProps {
  site: SiteRecord
  onClose: () => void
}

/** Places devices at a site: devices nearby, devices found by a search, or pasted serial numbers. */
export function PlaceDevices({ site, onClose }: PlaceDevicesProps) {
  const t = useTexts()
  const id = useId()
  const { appId } = site
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const [pasted, setPasted] = useState('')
  const [lane, setLane] = useState<LaneDraft>({ laneType: 1, laneName: '' })
  const serials = [...new Set([...ticked, ...pasted.split(/[\s,;，；]+/u).filter((serial) => serial !== '')])]
  const { run, outcomes, isRunning, error } = useRun(site)
  const tick = (deviceNo: string, isTicked: boolean) => {
    const next = new Set(ticked)
    if (isTicked) next.add(deviceNo)
    else next.delete(deviceNo)
    setTicked(next)
  }
  return (
    <FormDrawer isOpen title={t('placeDevices')} onClose={onClose}>
      <RefusalAlert error={error} />
      {outcomes === undefined ? (
        <Form layout="vertical" onFinish={() => void run(serials, lane)}>
          <Nearby site={site} ticked={ticked} tick={tick} />
          <Search appId={appId} ticked={ticked} tick={tick} />
          <Form.Item label={t('pasted')} extra={t('pastedNote')} htmlFor={`${id}-pasted`}>
            <Input.TextArea
              id={`${id}-pasted`}
              className="mono"
              autoSize={{ minRows: 2, maxRows: 8 }}
              value={pasted}
              onChange={({ target }) => setPasted(target.value)}
            />
          </Form.Item>
          <LaneFields draft={lane} onChange={setLane} hasName={serials.length === 1} />
          <Button type="primary" htmlType="submit" disabled={serials.length === 0} loading={isRunning}>
            {t('placeVerb')}
          </Button>{' '}
          <span className="faint" aria-live="polite">
            {t('chosen', { count: serials.length })}
          </span>
        </Form>
      ) : (
        <Outcomes outcomes={outcomes} onClose={onClose} />
      )}
    </FormDrawer>
  )
}

/**
 * Sends the devices in batches. A failed batch that is sent again unchanged has the same idempotency key, so that nothing is done twice.
 */
function useRun({ appId, id: siteId }: SiteRecord) {
  const save = useWrite(savePlacements)
  const sent = useRef({ choice: '', keys: new Map<number, Record<string, string>>() })
  const [outcomes, setOutcomes] = useState<Outcome[]>()
  const { attempt, error, isRunning } = useAttempt()

  const run = (serials: string[], { laneType, laneName }: LaneDraft) =>
    attempt(async () => {
      const all: Outcome[] = []
      const choice = JSON.stringify([serials, laneType, laneName])
      if (choice !== sent.current.choice) sent.current = { choice, keys: new Map() }
      const { keys } = sent.current
      for (let from = 0; from < serials.length; from += batchRows) {
        const name = serials.length === 1 ? laneName : ''
        const placements = serials
          .slice(from, from + batchRows)
          .map((deviceNo) => ({ deviceNo, siteId, laneType, laneName: name }))
        const headers = keys.get(from) ?? newIdempotencyKey()
        keys.set(from, headers)
        const { results } = await save.mutateAsync({ input: { appId, placements }, headers })
        all.push(...results)
      }
      setOutcomes(all)
    })

  return { run, outcomes, isRunning, error }
}

interface TickProps {
  ticked: ReadonlySet<string>
  tick: (deviceNo: string, isTicked: boolean) => void
}

function Nearby({ site, ...ticks }: { site: SiteRecord } & TickProps) {
  const t = useTexts()
  const { data } = useRead(suggestPlacements, { appId: site.appId, siteId: site.id })
  return (
    <Form.Item label={t('nearbyDevices')}>
      {data === undefined ? <Loading /> : <Ticks rows={data.list} {...ticks} />}
    </Form.Item>
  )
}

function Search({ appId, ...ticks }: { appId: string } & TickProps) {
  const t = useTexts()
  const id = useId()
  const { search, asked } = useTypedSearch()
  const { data } = useRead(
    pageDevices,
    { appId, deviceNo: asked, isPlaced: 'false', pageSize: 20 },
    { enabled: asked !== '' },
  )
  return (
    <Form.Item label={t('searchDevices')} htmlFor={id}>
      <Input id={id} allowClear className="mono" onChange={({ target }) => search(target.value.trim())} />
      {asked !== '' && data && <Ticks rows={data.list} {...ticks} />}
    </Form.Item>
  )
}

interface TickRow {
  deviceNo: string
  deviceName: string
  distanceMeters?: number | null
}

function Ticks({ rows, ticked, tick }: { rows: TickRow[] } & TickProps) {
  const t = useTexts()
  if (rows.length === 0) return <span className="faint">{t('noneNearby')}</span>
  return (
    <div className="stacked scrolls">
      {rows.map(({ deviceNo, deviceName, distanceMeters }) => (
        <Checkbox
          key={deviceNo}
          checked={ticked.has(deviceNo)}
          onChange={({ target }) => tick(deviceNo, target.checked)}
        >
          {deviceName} <span className="faint mono">{deviceNo}</span>
          {distanceMeters !== undefined && (
            <span className="faint">
              {' '}
              · {distanceMeters === null ? t('sameDistrict') : t('meters', { count: distanceMeters })}
            </span>
          )}
        </Checkbox>
      ))}
    </div>
  )
}

function Outcomes({ outcomes, onClose }: { outcomes: Outcome[]; onClose: () => void }) {
  const t = useTexts()
  const refused = outcomes.filter(({ code }) => code !== 0)
  const done = outcomes.length - refused.length
  return (
    <div role="status">
      <Note type={refused.length === 0 ? 'success' : 'warning'} words={t('placed', { done, count: outcomes.length })} />
      {refused.length > 0 && (
        <ul>
          {refused.map(({ deviceNo, code, msg }) => (
            <li key={deviceNo}>
              <span className="mono">{deviceNo}</span> <State tone="bad">{code}</State> {msg}
            </li>
          ))}
        </ul>
      )}
      <Button type="primary" onClick={onClose}>
        {t('close')}
      </Button>
    </div>
  )
}

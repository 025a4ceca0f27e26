import { useMemo, useState } from 'react'
import { Link } from 'react-router'
import type { DeviceRecord } from '../../../src/devices/contract.ts'
import {
  getPlacement,
  type PlacementRecord,
  savePlacement,
  suggestPlacements,
} from '../../../src/devices/placement/contract.ts'
import { getSite } from '../../../src/sites/contract.ts'
import { useMay, useRead } from '../api/api.ts'
import { readPoint } from '../map/point.ts'
import { PointMap } from '../map/point-map.tsx'
import { pointOf } from '../map/site-points.ts'
import { paths } from '../paths.ts'
import { Button } from '../ui/page/button.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { Card } from '../ui/page/page.tsx'
import { part } from '../ui/page/part.tsx'
import { RefusalResult } from '../ui/page/refusal.tsx'
import { Actor } from '../ui/text/actor.tsx'
import { Facts } from '../ui/text/facts.tsx'
import { PlacementHistory } from './history.tsx'
import { Lane } from './parts.tsx'
import { useTexts } from './texts.ts'

const PlaceDialog = part(async () => (await import('./placement-dialogs.tsx')).PlaceDialog)
const RemoveDialog = part(async () => (await import('./placement-dialogs.tsx')).RemoveDialog)

/** The code of the refusal for a device without a placement. */
const placementNotFound = 20030

type Asked = { act: 'place'; now: Partial<PlacementRecord> } | { act: 'remove'; placement: PlacementRecord }

/** Shows the site of a device with its contact; for a device without a placement, the sites nearby. */
export function DeviceSite({ device }: { device: DeviceRecord }) {
  const { appId, deviceNo } = device
  const t = useTexts()
  const [asked, setAsked] = useState<Asked>()
  const close = () => setAsked(undefined)
  const { data, error, refetch } = useRead(getPlacement, { appId, deviceNo }, { live: appId })
  const isNowhere = error?.code === placementNotFound
  return (
    <Card title={t('site')}>
      {isNowhere && (
        <Nowhere appId={appId} deviceNo={deviceNo} place={(siteId) => setAsked({ act: 'place', now: { siteId } })} />
      )}
      {!isNowhere && data !== undefined && <Somewhere placement={data} device={device} ask={setAsked} />}
      {data === undefined && error === null && <Loading />}
      {data === undefined && error !== null && !isNowhere && (
        <RefusalResult error={error} retry={() => void refetch()} />
      )}
      <PlacementHistory title={t('historyOfDevice')} filter={{ appId, deviceNo }} />

      {asked?.act === 'place' && <PlaceDialog appId={appId} deviceNo={deviceNo} now={asked.now} onClose={close} />}
      {asked?.act === 'remove' && <RemoveDialog placement={asked.placement} onClose={close} />}
    </Card>
  )
}

interface SomewhereProps {
  placement: PlacementRecord
  device: DeviceRecord
  ask: (asked: Asked) => void
}

function Somewhere({ placement, device, ask }: SomewhereProps) {
  const t = useTexts()
  const may = useMay()
  const { appId, siteId, siteName, laneType, laneName, placedTime, placedBy } = placement
  const { data: site } = useRead(getSite, { appId, id: siteId }, { live: appId })
  const points = useMemo(() => (site === undefined ? [] : pointOf(site)), [site])
  const { coordinates } = device.deviceBattery
  const ring = useMemo(() => readPoint(coordinates), [coordinates])
  return (
    <>
      <Facts
        facts={{
          [t('site')]: <Link to={paths.site(appId, siteId)}>{siteName}</Link>,
          [t('lane')]: <Lane laneType={laneType} laneName={laneName} />,
          [t('since')]: (
            <span className="text-links">
              <span className="number">{placedTime}</span> · <Actor actor={placedBy} />
            </span>
          ),
          [t('contacts')]: site && (
            <span className="text-links">
              {site.contacts} <a href={`tel:${site.contactsPhone}`}>{site.contactsPhone}</a>
            </span>
          ),
        }}
      />
      {(points.length > 0 || ring !== undefined) && (
        <>
          <PointMap label={t('map')} height={180} points={points} ring={ring} />
          <p className="faint map-words">
            {points.length > 0 && t('siteOnMap')} {ring !== undefined && t('deviceOnMap')}
          </p>
        </>
      )}
      {may(savePlacement) && (
        <p className="buttons spaced-above">
          <Button onClick={() => ask({ act: 'place', now: placement })}>{t('change')}</Button>
          <Button onClick={() => ask({ act: 'remove', placement })}>{t('remove')}</Button>
        </p>
      )}
    </>
  )
}

interface NowhereProps {
  appId: string
  deviceNo: string
  place: (siteId?: number) => void
}

function Nowhere({ appId, deviceNo, place }: NowhereProps) {
  const t = useTexts()
  const may = useMay()
  const { data } = useRead(suggestPlacements, { appId, deviceNo })
  const nearest = data?.list.slice(0, 5) ?? []
  return (
    <>
      <p>{t('nowhere')}</p>
      {nearest.length > 0 && (
        <>
          <h3 className="small-heading">{t('nearby')}</h3>
          <ul className="plain-list stacked">
            {nearest.map(({ siteId, siteName, distanceMeters }) => (
              <li key={siteId} className="in-a-row">
                <Link to={paths.site(appId, siteId)}>{siteName}</Link>
                <span className="faint">
                  {distanceMeters === null ? t('sameDistrict') : t('meters', { count: distanceMeters })}
                </span>
                {may(savePlacement) && (
                  <Button size="small" onClick={() => place(siteId)}>
                    {t('placeHere')}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      {may(savePlacement) && <Button onClick={() => place()}>{t('placeAt')}</Button>}
    </>
  )
}

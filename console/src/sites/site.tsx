import { DeleteOutlined, EditOutlined } from '@ant-design/icons'
import { useMemo, useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { type EventRecord, pageEvents } from '../../../src/events/contract.ts'
import { deleteSite, getSite, type SiteRecord, saveSite, updateSite } from '../../../src/sites/contract.ts'
import { useMay, useRead, useWrite } from '../api/api.ts'
import { PointMap } from '../map/point-map.tsx'
import { pointOf } from '../map/site-points.ts'
import { paths } from '../paths.ts'
import { Gates } from '../placements/gates.tsx'
import { useSummary } from '../placements/parts.tsx'
import { SitePrices } from '../prices/site-prices.tsx'
import { ConfirmButton } from '../ui/dialog/confirm.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { Card, Page as PageFrame } from '../ui/page/page.tsx'
import { RefusalResult } from '../ui/page/refusal.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { actorColumn } from '../ui/text/actor.tsx'
import { ApplicationName } from '../ui/text/application-name.tsx'
import { Facts } from '../ui/text/facts.tsx'
import { Copyable } from '../ui/text/secret.tsx'
import { State } from '../ui/text/status.tsx'
import { useTypeWords } from '../words/type-words.ts'
import { OutOfService } from './out-of-service.tsx'
import { Hours, isOutOfService, partsOf, regionName } from './show.tsx'
import './sites.css'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { Button, LinkButton } from '../ui/page/button.tsx'
import { RecordJson } from '../ui/text/text-block.tsx'
import { useTexts } from './texts.ts'

/** One site, with all its members. */
export function Page() {
  const t = useTexts()
  const { appId = '', id } = useParams()
  const { data, error, refetch } = useRead(getSite, { appId, id: Number(id) }, { live: appId })
  if (data === undefined && error !== null) {
    return (
      <PageFrame title={t('site')}>
        <RefusalResult error={error} retry={() => void refetch()} />
      </PageFrame>
    )
  }
  return data === undefined ? <Loading /> : <Site site={data} />
}

function Site({ site }: { site: SiteRecord }) {
  const t = useTexts()
  return (
    <PageFrame
      title={site.siteName}
      operation={getSite}
      beside={isOutOfService(site) && <State tone="warn">{t('outOfService')}</State>}
      actions={<Actions site={site} />}
    >
      <div className="side-by-side" style={{ '--least': '420px' }}>
        <General site={site} />
        <Place site={site} />
      </div>
      <Gates site={site} />
      <div className="side-by-side" style={{ '--least': '420px' }}>
        <Rules site={site} />
        <More site={site} />
      </div>
      <Events site={site} />
      <details className="card">
        <summary>{t('record')}</summary>
        <div className="spaced-above">
          <RecordJson record={site} />
        </div>
      </details>
    </PageFrame>
  )
}

function Actions({ site }: { site: SiteRecord }) {
  const t = useTexts()
  const may = useMay()
  const navigate = useNavigate()
  const remove = useWrite(deleteSite)
  const [isTaking, setTaking] = useState(false)
  const { appId, id, siteName } = site

  async function run(): Promise<void> {
    await remove.mutateAsync({ input: { appId, id } })
    showSuccess(t('deletedMessage'))
    await navigate(paths.sites({ appId }))
  }

  return (
    <>
      {may(saveSite) && <LinkButton to={paths.newSite({ appId, like: id })}>{t('newLike')}</LinkButton>}
      {may(updateSite) && (
        <LinkButton icon={<EditOutlined />} to={paths.editSite(appId, id)}>
          {t('edit')}
        </LinkButton>
      )}
      {may(updateSite) && (
        <Button onClick={() => setTaking(true)}>{t(isOutOfService(site) ? 'takeBackAsked' : 'takeOutAsked')}</Button>
      )}
      {may(deleteSite) && (
        <ConfirmButton
          button={{ danger: true, icon: <DeleteOutlined /> }}
          title={t('deleteName', { name: siteName })}
          verb={t('delete')}
          isDangerous
          typed={siteName}
          run={run}
        >
          {t('deleteWords')} <DevicesThatStay site={site} />
        </ConfirmButton>
      )}
      <OutOfService key={site.businessWeekDay} site={site} isOpen={isTaking} onClose={() => setTaking(false)} />
    </>
  )
}

/** How many devices have no site after the deletion. */
function DevicesThatStay({ site }: { site: SiteRecord }) {
  const t = useTexts()
  const summary = useSummary(site)
  return summary != null && summary.devices > 0 && <strong>{t('deleteCount', { count: summary.devices })}</strong>
}

function General({ site }: { site: SiteRecord }) {
  const t = useTexts()
  return (
    <Card title={t('site')}>
      <Facts
        facts={{
          [t('siteId')]: <Copyable text={String(site.id)} />,
          [t('application')]: <ApplicationName appId={site.appId} />,
          [t('contacts')]: site.contacts,
          [t('contactsPhone')]: <span className="number">{site.contactsPhone}</span>,
          [t('customerServicePhone')]: <span className="number">{site.customerServicePhone}</span>,
          [t('openingHours')]: <Hours site={site} />,
          [t('businessWeekDay')]: site.businessWeekDay,
          [t('createTime')]: <span className="number">{site.createTime}</span>,
        }}
      />
    </Card>
  )
}

function Place({ site }: { site: SiteRecord }) {
  const t = useTexts()
  const { coordinates } = site
  const points = useMemo(() => pointOf(site), [site])
  return (
    <Card title={t('place')}>
      <Facts
        facts={{
          [t('region')]: (
            <span>
              {regionName(site)}{' '}
              <span className="faint mono">
                {site.provinceCode}/{site.cityCode}/{site.districtCode}
              </span>
            </span>
          ),
          [t('detailAddress')]: site.detailAddress,
          [t('coordinates')]: coordinates && <Copyable text={coordinates} />,
        }}
      />
      {points.length > 0 && <PointMap label={t('mapOfSite')} height={220} points={points} />}
    </Card>
  )
}

function Rules({ site }: { site: SiteRecord }) {
  const t = useTexts()
  return (
    <Card title={t('billingRules')}>
      <SitePrices site={site} />
    </Card>
  )
}

function More({ site }: { site: SiteRecord }) {
  const t = useTexts()
  const ids = partsOf(site.ipcIds)
  return (
    <Card title={t('more')}>
      <Facts
        facts={{
          [t('pictures')]: site.sitePictureUrl && <Pictures addresses={partsOf(site.sitePictureUrl)} />,
          [t('ipcIds')]: ids.length > 0 && <span className="mono">{ids.join(', ')}</span>,
        }}
      />
    </Card>
  )
}

/** Only addresses of web pages become links, because the field may hold any text. */
function Pictures({ addresses }: { addresses: string[] }) {
  const t = useTexts()
  return (
    <div className="buttons">
      {addresses.map((address, index) =>
        /^https?:\/\//i.test(address) ? (
          <a key={address} href={address} target="_blank" rel="noreferrer">
            <img
              className="site-picture"
              src={address}
              alt={t('picture', { number: index + 1 })}
              loading="lazy"
              referrerPolicy="no-referrer"
            />
          </a>
        ) : (
          <span key={address} className="mono">
            {address}
          </span>
        ),
      )}
    </div>
  )
}

function Events({ site }: { site: SiteRecord }) {
  const t = useTexts()
  const words = useTypeWords()
  const { appId, id } = site
  const [shown, setShown] = useState<number>()
  const columns: Column<EventRecord>[] = [
    { key: 'time', title: t('time'), className: 'number', isFixed: true },
    { key: 'type', title: t('type'), render: ({ type }) => <span title={type}>{words(type)}</span> },
    actorColumn(t('by')),
    {
      key: 'data',
      title: t('data'),
      render: (event) =>
        shown === event.id ? (
          <RecordJson record={event.data} />
        ) : (
          <Button size="small" type="link" onClick={() => setShown(event.id)}>
            {t('view')}
          </Button>
        ),
    },
  ]
  return (
    <Card title={t('events')}>
      <Records
        name="site-events"
        operation={pageEvents}
        isLive
        input={{ appId, siteId: id }}
        orderedBy="time"
        columns={columns}
        rowKey={(event) => event.id}
        empty={t('noEvents')}
        footer={<Link to={paths.events({ appId, siteId: id })}>{t('otherEvents')}</Link>}
      />
    </Card>
  )
}

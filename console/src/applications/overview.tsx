import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import type { TObject } from 'typebox'
import {
  type ApplicationRecord,
  endPreviousApplicationSecret,
  getApplication,
  updateApplication,
} from '../../../src/applications/contract.ts'
import { pageDeliveries } from '../../../src/deliveries/contract.ts'
import { pageDevices } from '../../../src/devices/contract.ts'
import { pageSites } from '../../../src/sites/contract.ts'
import type { Operation } from '../../../src/vocabulary/operation.ts'
import { type Input, type ReadOptions, useMay, useRead, useReadTagged, useWrite } from '../api/api.ts'
import { paths } from '../paths.ts'
import { Confirm } from '../ui/dialog/confirm.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { FormDrawer, RecordForm, useEdited } from '../ui/form/record-form.tsx'
import { Button } from '../ui/page/button.tsx'
import { Facts } from '../ui/text/facts.tsx'
import { Figure } from '../ui/text/figure.tsx'
import { countOf, grouped } from '../ui/text/number.ts'
import { Copyable } from '../ui/text/secret.tsx'
import { OnlineState, State } from '../ui/text/status.tsx'
import { useCounts } from '../words/counts.ts'
import { ApplicationFields, applicationValues, useFieldNames } from './fields.tsx'
import { FrozenState } from './list.tsx'
import { durationWords, useTexts } from './texts.ts'

export function OverviewTab({ application }: { application: ApplicationRecord }) {
  const t = useTexts()
  const may = useMay()
  const [isEditing, setEditing] = useState(false)
  const { appId, appName, status, frozenReason, onlineStatus, overlapUntil: until, createTime } = application
  const { tokenLifetimeSeconds, rateLimitPerSecond } = application
  const facts = {
    [t('appName')]: appName,
    [t('appId')]: <Hinted text={<Copyable text={appId} />} hint={t('appIdHint')} />,
    [t('onlineStatus')]: (
      <Hinted
        text={<OnlineState status={onlineStatus} />}
        hint={t(status === 2 ? 'onceUnfrozen' : onlineStatus === 1 ? 'whileOnline' : 'whileOffline')}
      />
    ),
    [t('status')]: (
      <Hinted text={<FrozenState application={application} />} hint={t(status === 2 ? 'whileFrozen' : 'whileNormal')} />
    ),
    ...(status === 2 && { [t('frozenReason')]: frozenReason }),
    ...(until !== null && { [t('oldSecret')]: <OldSecret application={application} until={until} /> }),
    [t('tokenLifetime')]: `${grouped(tokenLifetimeSeconds)} s (${durationWords(t, tokenLifetimeSeconds)})`,
    [t('rateLimit')]:
      rateLimitPerSecond === null ? t('noLimit') : t('perSecond', { rate: grouped(rateLimitPerSecond) }),
    [t('createTime')]: createTime,
  }
  return (
    <>
      <Holdings appId={appId} />
      <section className="card">
        <div className="page-head">
          <h2 className="flush">{t('tab_overview')}</h2>
          <span className="spacer" />
          {may(updateApplication) && <Button onClick={() => setEditing(true)}>{t('edit')}</Button>}
        </div>
        <Facts isFramed isWide facts={facts} />
        <p className="spaced-above flush-below">
          <Link to={paths.refusals({ appId })}>{t('refusals')}</Link>
        </p>
        <FormDrawer isOpen={isEditing} onClose={() => setEditing(false)} title={t('editName', { name: appName })}>
          <Editor appId={appId} onClose={() => setEditing(false)} />
        </FormDrawer>
      </section>
    </>
  )
}

function Hinted({ text, hint }: { text: ReactNode; hint: string }) {
  return (
    <>
      {text} <span className="faint">{hint}</span>
    </>
  )
}

function Editor({ appId, onClose }: { appId: string; onClose: () => void }) {
  const fieldNames = useFieldNames()
  const { edited, instead } = useEdited(getApplication, { appId })
  const update = useWrite(updateApplication)
  if (edited === undefined) return instead
  return (
    <RecordForm
      edited={edited}
      valuesOf={applicationValues}
      send={({ values, headers }) => update.mutateAsync({ input: { appId, ...values }, headers })}
      onSaved={onClose}
      back={onClose}
      fieldNames={fieldNames}
    >
      <ApplicationFields />
    </RecordForm>
  )
}

const refetchInterval = 10_000

/** The total that a page operation returns, which has a limit. */
function useTotal<Body extends TObject, Query extends TObject>(
  operation: Operation<Body, Query>,
  input: object,
  options: ReadOptions,
) {
  const asked = { ...input, pageSize: 1 } as unknown as Input<Body, Query>
  const page = useRead(operation, asked, options).data as { total: number; totalIsExact: boolean } | undefined
  return page && (page.totalIsExact ? page.total : countOf(page))
}

/** The counts of an application's records, and of those that need attention. */
function Holdings({ appId }: { appId: string }) {
  const t = useCounts()
  const live = { refetchInterval, live: appId }
  // Their states change without an event.
  const polled = { refetchInterval }
  const { waitingEvents } = useRead(pageDeliveries, { appId, status: 1, pageSize: 1 }, polled).data ?? {}
  return (
    <div className="grid-cards spaced">
      <Figure name={t('sites')} value={useTotal(pageSites, { appId }, live)} to={paths.sites({ appId })} />
      <Figure name={t('devices')} value={useTotal(pageDevices, { appId }, live)} to={paths.devices({ appId })} />
      <Figure
        name={t('offline')}
        value={useTotal(pageDevices, { appId, onlineStatus: 2 }, live)}
        to={paths.devices({ appId, onlineStatus: 2 })}
      />
      <Figure
        name={t('faulty')}
        isBad
        value={useTotal(pageDevices, { appId, status: 2 }, live)}
        to={paths.devices({ appId, status: 2 })}
      />
      <Figure
        name={t('waiting')}
        value={useTotal(pageDeliveries, { appId, status: 1 }, polled)}
        to={paths.deliveries({ appId, status: 1 })}
      >
        {waitingEvents != null && waitingEvents > 0 && (
          <State tone="busy">{t('eventsWaiting', { count: grouped(waitingEvents) })}</State>
        )}
      </Figure>
      <Figure
        name={t('dead')}
        isBad
        value={useTotal(pageDeliveries, { appId, status: 3 }, polled)}
        to={paths.deliveries({ appId, status: 3 })}
      />
    </div>
  )
}

/** Until when the secret before the last rotation works, with a button that ends it. */
function OldSecret({ application, until }: { application: ApplicationRecord; until: string }) {
  const t = useTexts()
  const may = useMay()
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      {t('oldSecretUntil', { until })}{' '}
      {may(endPreviousApplicationSecret) && (
        <Button size="small" onClick={() => setAsking(true)}>
          {t('endOldSecret')}
        </Button>
      )}
      {isAsking && <EndOldSecret application={application} onClose={() => setAsking(false)} />}
    </>
  )
}

/** Ends the secret that the dialog names: if the application was rotated meanwhile, the service refuses. */
function EndOldSecret({ application, onClose }: { application: ApplicationRecord; onClose: () => void }) {
  const t = useTexts()
  const { appId, appName: name } = application
  const { data: read } = useReadTagged(getApplication, { appId })
  const end = useWrite(endPreviousApplicationSecret)
  const shown = read?.data ?? application

  async function run(): Promise<void> {
    await end.mutateAsync({ input: { appId }, headers: read?.etag ? { 'if-match': read.etag } : {} })
    showSuccess(t('oldSecretEnded', { name }))
  }

  return (
    <Confirm
      isOpen
      title={t('endOldSecretTitle', { name })}
      verb={t('endOldSecret')}
      isDangerous
      isComplete={read !== undefined}
      run={run}
      onClose={onClose}
    >
      {shown.overlapUntil === null ? (
        <p>{t('oldSecretOver')}</p>
      ) : (
        <>
          <p>{t('endOldSecretText')}</p>
          <p>{t('endOldSecretKept', { until: shown.overlapUntil })}</p>
        </>
      )}
    </Confirm>
  )
}

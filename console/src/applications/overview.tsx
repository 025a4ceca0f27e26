import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { type ApplicationRecord, getApplication, updateApplication } from '../../../src/applications/contract.ts'
import { useMay, useWrite } from '../api/api.ts'
import { paths } from '../paths.ts'
import { FormDrawer } from '../ui/form/form-drawer.tsx'
import { RecordForm, useEdited } from '../ui/form/record-form.tsx'
import { Button } from '../ui/page/button.tsx'
import { Facts } from '../ui/text/facts.tsx'
import { grouped } from '../ui/text/number.ts'
import { Copyable } from '../ui/text/secret.tsx'
import { OnlineState } from '../ui/text/status.tsx'
import { ApplicationFields, applicationValues, useFieldNames } from './fields.tsx'
import { Holdings } from './holdings.tsx'
import { FrozenState } from './list.tsx'
import { OldSecret } from './old-secret.tsx'
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
    [t('onlineStatus')]: <OnlineState status={onlineStatus} />,
    [t('status')]: <FrozenState application={application} />,
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

import { Alert, App, Form } from 'antd'
import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { getSite, type SiteRecord, saveSite, updateSite } from '../../../src/sites/contract.ts'
import { newIdempotencyKey, useReadTagged, useWrite } from '../api.ts'
import { paths } from '../paths.ts'
import { ApplicationFilter, NoApplication, useApplication } from '../ui/application-picker.tsx'
import { Loading } from '../ui/loading.tsx'
import { Page as PageFrame } from '../ui/page.tsx'
import { RefusalResult } from '../ui/refusal.tsx'
import { useCommon } from '../ui/texts.ts'
import {
  changesOf,
  conflictsOf,
  readValues,
  registrationOf,
  ruleFields,
  type SiteValues,
  valuesOf,
} from './form-values.ts'
import { SiteForm } from './site-form.tsx'
import './sites.css'
import { useTexts } from './texts.ts'

/** Makes a site, or changes one. */
export function Page() {
  const { appId, id } = useParams()
  return appId === undefined ? <NewSite /> : <EditSite appId={appId} id={Number(id)} />
}

function NewSite() {
  const t = useTexts()
  const common = useCommon()
  const navigate = useNavigate()
  const { message } = App.useApp()
  const [appId, chooseApplication] = useApplication()
  const [form] = Form.useForm<SiteValues>()
  const [key, setKey] = useState(newIdempotencyKey)
  const create = useWrite(saveSite)

  async function run(values: SiteValues): Promise<void> {
    const site = await create.mutateAsync({ input: registrationOf(appId, values), headers: key })
    void message.success(t('createdMessage'))
    await navigate(paths.site(site.appId, site.id))
  }

  function choose(chosen: string): void {
    // Another application has other billing rules.
    form.setFieldsValue(Object.fromEntries(ruleFields.map(({ field }) => [field, null])))
    chooseApplication(chosen)
  }

  return (
    <PageFrame title={t('newSite')} operation={saveSite}>
      <div className="site-form">
        <div className="card">
          <ApplicationFilter value={appId} onChange={choose} />
        </div>
        {appId === '' ? (
          <div className="card">
            <NoApplication />
          </div>
        ) : (
          <SiteForm
            appId={appId}
            form={form}
            verb={common('create')}
            back={paths.sites({ appId })}
            run={run}
            // What is sent next is another site than the one that this key made.
            onRefused={({ code }) => code === 10008 && setKey(newIdempotencyKey())}
          />
        )}
      </div>
    </PageFrame>
  )
}

function EditSite({ appId, id }: { appId: string; id: number }) {
  const t = useTexts()
  const common = useCommon()
  const { data, error, refetch } = useReadTagged(getSite, { appId, id })
  if (data === undefined && error !== null) {
    return (
      <PageFrame title={common('edit')}>
        <RefusalResult error={error} retry={() => void refetch()} />
      </PageFrame>
    )
  }
  if (data === undefined) return <Loading />
  const read = async () => (await refetch({ throwOnError: true })).data?.data
  return (
    <PageFrame title={t('editSite', { name: data.data.siteName })} operation={updateSite}>
      <EditForm key={`${appId} ${id}`} site={data.data} etag={data.etag} read={read} />
    </PageFrame>
  )
}

interface EditFormProps {
  site: SiteRecord
  etag: string | null
  /** Reads the site anew; from then on, it is what the form compares with. */
  read: () => Promise<SiteRecord | undefined>
}

function EditForm({ site, etag, read }: EditFormProps) {
  const t = useTexts()
  const common = useCommon()
  const navigate = useNavigate()
  const { message } = App.useApp()
  const [form] = Form.useForm<SiteValues>()
  const [isMerged, setMerged] = useState(false)
  const update = useWrite(updateSite)
  const { appId, id } = site
  const back = paths.site(appId, id)

  async function run(values: SiteValues): Promise<void> {
    const input = { appId, id, ...changesOf(site, values) } as Parameters<typeof update.mutateAsync>[0]['input']
    await update.mutateAsync({ input, ...(etag === null ? {} : { headers: { 'if-match': etag } }) })
    void message.success(t('savedMessage'))
    await navigate(back)
  }

  /** Takes over what another has changed; what was typed here stays. */
  async function takeTheirs(): Promise<void> {
    const values = readValues(form.getFieldsValue(true))
    const now = await read()
    if (now === undefined) return
    form.setFieldsValue({
      ...valuesOf(now),
      ...readValues({ ...valuesOf(now), ...pick(values, changesOf(site, values)) }),
    })
    form.setFields(
      conflictsOf(site, now, values).map(({ field, theirs }) => ({
        name: field,
        warnings: [`${t('bothChanged')} ${theirs === '' ? t('nothing') : theirs}`],
      })),
    )
    setMerged(true)
  }

  return (
    <div className="site-form">
      {isMerged && <Alert type="info" showIcon role="status" title={t('theirs')} style={{ marginBottom: 16 }} />}
      <SiteForm
        appId={appId}
        form={form}
        site={site}
        verb={common('save')}
        back={back}
        run={run}
        onRefused={() => setMerged(false)}
        takeTheirs={takeTheirs}
      />
    </div>
  )
}

/** The values of the fields that were changed. */
function pick(values: SiteValues, changes: object): Partial<SiteValues> {
  return Object.fromEntries(Object.entries(values).filter(([field]) => field in changes)) as Partial<SiteValues>
}

import { Form } from 'antd'
import { useState } from 'react'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import { getSite, type SiteRecord, saveSite, updateSite } from '../../../src/sites/contract.ts'
import { useRead, useWrite } from '../api/api.ts'
import { paths } from '../paths.ts'
import { ruleFields } from '../pricing/rule-fields.ts'
import { type Edited, useEdited } from '../ui/form/record-form.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { Note } from '../ui/page/note.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import type { SiteValues } from './form-values.ts'
import { SiteForm } from './site-form.tsx'
import './sites.css'
import { ApplicationFilter, NoApplication, useApplication } from '../ui/filter/filters.tsx'
import { useTexts } from './texts.ts'

/** The form to create or change a site. */
export function Page() {
  const { appId, id } = useParams()
  return appId === undefined ? <NewSite /> : <EditSite key={`${appId} ${id}`} appId={appId} id={Number(id)} />
}

function NewSite() {
  const t = useTexts()
  const navigate = useNavigate()
  const [appId, chooseApplication] = useApplication({ isOfNew: true })
  const [form] = Form.useForm<SiteValues>()
  const create = useWrite(saveSite)
  const [search] = useSearchParams()
  const [asked] = useState({ appId: search.get('appId') ?? '', id: Number(search.get('like') ?? 0) })
  const isLike = asked.appId !== '' && asked.id > 0
  const like = useRead(getSite, asked, { enabled: isLike })
  const isReading = isLike && like.isPending

  function choose(chosen: string): void {
    // The rules of one application are invalid in another.
    form.setFieldsValue(Object.fromEntries(ruleFields.map(({ field }) => [field, null])))
    chooseApplication(chosen)
  }

  return (
    <PageFrame title={t('newSite')} operation={saveSite}>
      <div className="site-form">
        {like.data && <Note type="info" words={t('isLike', { name: like.data.siteName })} />}
        <div className="card">
          <ApplicationFilter value={appId} onChange={choose} />
          {appId === '' && <NoApplication />}
        </div>
        {isReading && <Loading />}
        {appId !== '' && !isReading && (
          <SiteForm
            like={like.data}
            appId={appId}
            form={form}
            back={paths.sites({ appId })}
            send={({ values, headers }) => create.mutateAsync({ input: { appId, ...values }, headers })}
            successMessage={() => t('createdMessage')}
            onSaved={(site) => navigate(paths.site(site.appId, site.id), { replace: true })}
          />
        )}
      </div>
    </PageFrame>
  )
}

function EditSite({ appId, id }: { appId: string; id: number }) {
  const t = useTexts()
  const { edited, instead } = useEdited(getSite, { appId, id })
  const title = edited === undefined ? t('edit') : t('editName', { name: edited.data.siteName })
  return (
    <PageFrame title={title} operation={updateSite}>
      {edited === undefined ? instead : <EditForm edited={edited} />}
    </PageFrame>
  )
}

function EditForm({ edited }: { edited: Edited<SiteRecord> }) {
  const t = useTexts()
  const navigate = useNavigate()
  const [form] = Form.useForm<SiteValues>()
  const update = useWrite(updateSite)
  const { appId, id } = edited.data
  const back = paths.site(appId, id)
  return (
    <div className="site-form">
      <SiteForm
        appId={appId}
        form={form}
        edited={edited}
        back={back}
        send={({ changed, headers }) => update.mutateAsync({ input: { appId, id, ...changed }, headers })}
        successMessage={() => t('savedMessage')}
        onSaved={() => navigate(back, { replace: true })}
      />
    </div>
  )
}

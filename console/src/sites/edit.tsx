import { Alert, App, Button, Form, type FormInstance, Input, Result } from 'antd'
import { type ReactNode, useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import type { ForecourtError } from '../../../src/sdk/client.ts'
import { getSite, type SiteRecord, saveSite, updateSite } from '../../../src/sites/contract.ts'
import { newIdempotencyKey, useReadTagged, useWrite } from '../api.ts'
import { paths } from '../paths.ts'
import { RegionFields, regionFields } from '../regions/region-fields.tsx'
import { useTexts as useRegionTexts } from '../regions/texts.ts'
import { useMay } from '../session.tsx'
import { ApplicationFilter, NoApplication, useApplication } from '../ui/application-picker.tsx'
import { Loading } from '../ui/loading.tsx'
import { Page as PageFrame } from '../ui/page.tsx'
import { RefusalAlert, RefusalResult } from '../ui/refusal.tsx'
import { useCommon } from '../ui/texts.ts'
import { CoordinatesField } from './coordinates-field.tsx'
import {
  changesOf,
  conflictsOf,
  readValues,
  registrationOf,
  ruleFields,
  type SiteValues,
  valuesOf,
} from './form-values.ts'
import { LinkButton } from './link-button.tsx'
import { RulePicker } from './rule-picker.tsx'
import { closesNextDay } from './show.tsx'
import './sites.css'
import { useFieldNames, useTexts } from './texts.ts'
import { ClosingTime, TimeOfDay } from './times.tsx'

/** Makes a site, or changes one. */
export function Page() {
  const { appId, id } = useParams()
  return appId === undefined ? <NewSite /> : <EditSite appId={appId} id={Number(id)} />
}

function NewSite() {
  const t = useTexts()
  const common = useCommon()
  const may = useMay()
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
      {may(saveSite) ? (
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
      ) : (
        <Result status="warning" title={common('notPermitted')} />
      )}
    </PageFrame>
  )
}

function EditSite({ appId, id }: { appId: string; id: number }) {
  const t = useTexts()
  const common = useCommon()
  const may = useMay()
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
      {may(updateSite) ? (
        <EditForm key={`${appId} ${id}`} site={data.data} etag={data.etag} read={read} />
      ) : (
        <Result status="warning" title={common('notPermitted')} />
      )}
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

interface SiteFormProps {
  appId: string
  form: FormInstance<SiteValues>
  site?: SiteRecord
  verb: string
  back: string
  /** Throws its refusal, which is shown. */
  run: (values: SiteValues) => Promise<void>
  onRefused: (error: ForecourtError) => unknown
  takeTheirs?: () => Promise<void>
}

function SiteForm({ appId, form, site, verb, back, run, onRefused, takeTheirs }: SiteFormProps) {
  const common = useCommon()
  const fieldNames = useFieldNames()
  const [error, setError] = useState<ForecourtError>()
  const [isRunning, setRunning] = useState(false)
  const [isByHand, setByHand] = useState<boolean>()

  async function submit(): Promise<void> {
    if (isRunning) return
    setRunning(true)
    setError(undefined)
    try {
      await run(readValues(form.getFieldsValue(true)))
    } catch (refusal) {
      show(refusal as ForecourtError)
    } finally {
      setRunning(false)
    }
  }

  function show(refusal: ForecourtError): void {
    const faults = refusal.errors ?? []
    setError(refusal)
    onRefused(refusal)
    form.setFields(faults.map(({ field, reason }) => ({ name: field as keyof SiteValues, errors: [reason] })))
    // A fault must not stand where it cannot be seen.
    if (faults.some(({ field }) => (regionFields as string[]).includes(field))) setByHand(true)
    window.scrollTo({ top: 0 })
  }

  return (
    <Form<SiteValues>
      form={form}
      layout="vertical"
      initialValues={valuesOf(site)}
      scrollToFirstError={{ focus: true }}
      onFinish={() => void submit()}
    >
      <Refused
        error={error}
        appId={appId}
        fieldNames={fieldNames}
        takeTheirs={takeTheirs && (() => void takeTheirs().then(() => setError(undefined), setError))}
      />
      <GeneralFields />
      <OpeningFields form={form} />
      <PlaceFields>
        <RegionFields form={form} isByHand={isByHand} onByHand={setByHand} />
        <CoordinatesField form={form} />
      </PlaceFields>
      <RuleFields appId={appId} />
      <MoreFields />
      <div className="form-buttons">
        <Button type="primary" htmlType="submit" loading={isRunning}>
          {verb}
        </Button>
        <LinkButton to={back}>{common('cancel')}</LinkButton>
      </div>
    </Form>
  )
}

interface RefusedProps {
  error: ForecourtError | undefined
  appId: string
  fieldNames: Record<string, string>
  takeTheirs: (() => void) | undefined
}

/** A refusal, with what to do about it where that is known. */
function Refused({ error, appId, fieldNames, takeTheirs }: RefusedProps) {
  const t = useTexts()
  const common = useCommon()
  const region = useRegionTexts()
  if (error === undefined) return null
  const names = { ...fieldNames, ...Object.fromEntries(regionFields.map((field) => [field, region(field)])) }
  const style = { marginBottom: 16 }
  return (
    <>
      <RefusalAlert error={error} fieldNames={names} />
      {error.code === 30003 && (
        <Alert
          type="info"
          showIcon
          style={style}
          title={t('configMissing')}
          description={
            // In another tab, because what was typed here would be lost.
            <a href={paths.application(appId, 'callback')} target="_blank" rel="noreferrer">
              {t('configure')}
            </a>
          }
        />
      )}
      {error.code === 10009 && takeTheirs && (
        <Alert
          type="info"
          showIcon
          style={style}
          title={`${common('changedMeanwhile')} ${common('unsaved')}`}
          action={<Button onClick={takeTheirs}>{common('takeTheirs')}</Button>}
        />
      )}
    </>
  )
}

/** The rule of a text that must be there, with more than white space in it. */
function useNeeded() {
  const common = useCommon()
  return [{ required: true, whitespace: true, message: common('required') }]
}

function GeneralFields() {
  const t = useTexts()
  const needed = useNeeded()
  return (
    <Group title={t('general')}>
      <div className="form-grid form-pairs">
        <Form.Item name="siteName" label={t('siteName')} rules={needed}>
          <Input maxLength={64} autoComplete="off" />
        </Form.Item>
        <Form.Item name="contacts" label={t('contacts')} rules={needed}>
          <Input maxLength={64} autoComplete="off" />
        </Form.Item>
        <Form.Item name="contactsPhone" label={t('contactsPhone')} rules={needed}>
          <Input maxLength={32} type="tel" autoComplete="off" />
        </Form.Item>
        <Form.Item name="customerServicePhone" label={t('customerServicePhone')} rules={needed}>
          <Input maxLength={32} type="tel" autoComplete="off" />
        </Form.Item>
      </div>
    </Group>
  )
}

function OpeningFields({ form }: { form: FormInstance<SiteValues> }) {
  const t = useTexts()
  const needed = useNeeded()
  const opens = Form.useWatch('businessStartTime', form) ?? ''
  const closes = Form.useWatch('businessClosingTime', form) ?? ''
  return (
    <Group title={t('opening')}>
      <div className="form-grid">
        <Form.Item name="businessStartTime" label={t('businessStartTime')} rules={needed}>
          <TimeOfDay />
        </Form.Item>
        <Form.Item
          name="businessClosingTime"
          label={t('businessClosingTime')}
          rules={needed}
          extra={
            <span role="status">
              {closesNextDay(opens, closes) ? t('closesNextDay', { time: closes }) : t('closingNote')}
            </span>
          }
        >
          <ClosingTime />
        </Form.Item>
        <Form.Item name="businessWeekDay" label={t('businessWeekDay')} rules={needed} extra={t('weekDayNote')}>
          <Input maxLength={128} autoComplete="off" />
        </Form.Item>
      </div>
    </Group>
  )
}

function PlaceFields({ children }: { children: ReactNode }) {
  const t = useTexts()
  return (
    <Group title={t('place')}>
      {children}
      <Form.Item name="detailAddress" label={t('detailAddress')}>
        <Input maxLength={255} autoComplete="off" />
      </Form.Item>
    </Group>
  )
}

function RuleFields({ appId }: { appId: string }) {
  const t = useTexts()
  return (
    <Group title={t('rules')}>
      <div className="form-grid">
        {ruleFields.map(({ field, ruleType }) => (
          <Form.Item
            key={field}
            name={field}
            label={t(field)}
            extra={
              // In another tab, because what was typed here would be lost.
              <a href={paths.newBillingRule({ appId, ruleType })} target="_blank" rel="noreferrer">
                {t('newRule')}
              </a>
            }
          >
            <RulePicker appId={appId} ruleType={ruleType} label={t(field)} placeholder={t('chooseRule')} />
          </Form.Item>
        ))}
      </div>
    </Group>
  )
}

function MoreFields() {
  const t = useTexts()
  return (
    <Group title={t('more')}>
      <Form.Item name="sitePictureUrl" label={t('sitePictureUrl')} extra={t('pictureNote')}>
        <Input maxLength={2048} autoComplete="off" />
      </Form.Item>
      <Form.Item name="ipcIds" label={t('ipcIds')} extra={t('ipcNote')}>
        <Input maxLength={1024} autoComplete="off" />
      </Form.Item>
    </Group>
  )
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="card">
      <h2>{title}</h2>
      {children}
    </section>
  )
}

import { App, Button, Form, Input, InputNumber, Radio, Space } from 'antd'
import { useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import {
  type BillingRuleRecord,
  deleteBillingRule,
  getBillingRule,
  saveBillingRule,
  updateBillingRule,
} from '../../../src/billing-rules/contract.ts'
import type { ForecourtError } from '../../../src/sdk/client.ts'
import { newIdempotencyKey, useReadTagged, useWrite } from '../api.ts'
import { paths } from '../paths.ts'
import { useMay } from '../session.tsx'
import { ApplicationPicker, useApplication } from '../ui/application-picker.tsx'
import { Conflict } from '../ui/conflict.tsx'
import { Loading } from '../ui/loading.tsx'
import { Page as PageFrame } from '../ui/page.tsx'
import { RefusalAlert, RefusalResult } from '../ui/refusal.tsx'
import { useCommon } from '../ui/texts.ts'
import { DeleteRule } from './delete.tsx'
import { type EditedPeriod, edited, firstPeriods, PeriodsEditor, toSend } from './periods.tsx'
import { isSound, moneyPattern } from './rules.ts'
import { useTexts } from './texts.ts'
import { RuleView } from './view.tsx'

interface Entered {
  ruleName: string
  ruleType: 1 | 2 | 3
  periods: EditedPeriod[]
  freeMinutes: number | null
  unitMinutes: number | null
  unitPrice: string
  dailyCap: string
}

type RuleType = Entered['ruleType']

/** One billing rule: a new one, or one that is there. */
export function Page() {
  const { appId, id } = useParams()
  return appId === undefined || id === undefined ? (
    <NewRule />
  ) : (
    <Rule key={`${appId}/${id}`} appId={appId} id={Number(id)} />
  )
}

function NewRule() {
  const t = useTexts()
  const common = useCommon()
  const { message } = App.useApp()
  const navigate = useNavigate()
  const [appId, choose] = useApplication()
  const [key, setKey] = useState(newIdempotencyKey)
  const create = useWrite(saveBillingRule)

  async function save(entered: Entered): Promise<void> {
    try {
      const { ruleType } = entered
      await create.mutateAsync({ input: { appId, ruleType, ...membersOf(entered, ruleType) }, headers: key })
    } catch (refusal) {
      // The key stands for something else that was sent before, which may have been made.
      if ((refusal as ForecourtError).code === 10008) setKey(newIdempotencyKey())
      throw refusal
    }
    void message.success(t('created'))
    await navigate(paths.billingRules({ appId }))
  }

  return (
    <PageFrame title={t('newTitle')} operation={saveBillingRule}>
      <RuleForm
        initial={undefined}
        verb={common('create')}
        back={paths.billingRules({ appId })}
        isReady={appId !== ''}
        save={save}
        error={create.error}
        isSaving={create.isPending}
        before={
          <Form.Item label={common('application')} required htmlFor="rule-application">
            <ApplicationPicker id="rule-application" value={appId} onChange={choose} />
          </Form.Item>
        }
      />
    </PageFrame>
  )
}

function Rule({ appId, id }: { appId: string; id: number }) {
  const t = useTexts()
  const may = useMay()
  const common = useCommon()
  const navigate = useNavigate()
  const [isDeleting, setDeleting] = useState(false)
  const { data, error, refetch } = useReadTagged(getBillingRule, { appId, id })
  const rule = data?.data
  return (
    <PageFrame
      title={rule?.ruleName ?? t('title')}
      operation={getBillingRule}
      actions={
        rule && (
          <Space wrap>
            <Link to={paths.sites({ appId, billingRuleId: id })}>{t('sites')}</Link>
            <Link to={paths.events({ tab: 'feed', appId, billingRuleId: id })}>{t('history')}</Link>
            {may(deleteBillingRule) && (
              <Button danger onClick={() => setDeleting(true)}>
                {common('delete')}
              </Button>
            )}
          </Space>
        )
      }
    >
      {rule === undefined && error !== null && <RefusalResult error={error} retry={() => void refetch()} />}
      {rule === undefined && error === null && <Loading />}
      {data !== undefined &&
        (may(updateBillingRule) ? (
          <EditRule read={data} readAnew={async () => (await refetch({ throwOnError: true })).data} />
        ) : (
          <RuleView rule={data.data} />
        ))}
      <DeleteRule
        rule={isDeleting ? rule : undefined}
        onClose={() => setDeleting(false)}
        onDeleted={() => void navigate(paths.billingRules({ appId }))}
      />
    </PageFrame>
  )
}

interface Read {
  data: BillingRuleRecord
  etag: string | null
}

function EditRule({ read, readAnew }: { read: Read; readAnew: () => Promise<Read | undefined> }) {
  const common = useCommon()
  const { message } = App.useApp()
  const navigate = useNavigate()
  const update = useWrite(updateBillingRule)
  // What the form began with; a newer state takes its place only when one chooses it.
  const [base, setBase] = useState(read)
  const [newer, setNewer] = useState<Read>()
  const [loading, setLoading] = useState(false)
  const [form] = Form.useForm<Entered>()
  const { appId, id, ruleType } = base.data

  async function save(entered: Entered, etag: string | null): Promise<void> {
    const input = { appId, id, ...membersOf(entered, ruleType as RuleType) }
    await update.mutateAsync({ input, headers: etag === null ? {} : { 'if-match': etag } })
    void message.success(common('saved'))
    await navigate(paths.billingRules({ appId }))
  }

  async function load(): Promise<void> {
    setLoading(true)
    setNewer(await readAnew().catch(() => undefined))
    setLoading(false)
  }

  function take(rule: Read): void {
    form.setFieldsValue(enteredOf(rule.data))
    setBase(rule)
    setNewer(undefined)
    update.reset()
  }

  const isConflict = update.error?.code === 10009
  return (
    <RuleForm
      form={form}
      initial={base.data}
      verb={common('save')}
      back={paths.billingRules({ appId })}
      isReady
      save={(entered) => save(entered, base.etag)}
      error={isConflict ? null : update.error}
      isSaving={update.isPending}
      before={
        isConflict && (
          <Conflict
            opened={base.data}
            now={newer?.data}
            isLoading={loading}
            load={() => void load()}
            keepMine={() => {
              if (newer === undefined) return
              setBase(newer)
              setNewer(undefined)
              save(form.getFieldsValue(true), newer.etag).catch(() => {})
            }}
            takeTheirs={() => newer && take(newer)}
          />
        )
      }
    />
  )
}

const enteredOf = (rule: BillingRuleRecord): Entered => ({
  ruleName: rule.ruleName,
  ruleType: rule.ruleType as RuleType,
  periods: rule.periods?.map(edited) ?? firstPeriods(),
  freeMinutes: rule.freeMinutes,
  unitMinutes: rule.unitMinutes,
  unitPrice: rule.unitPrice ?? '',
  dailyCap: rule.dailyCap ?? '',
})

const emptyEntered = (): Entered => ({
  ruleName: '',
  ruleType: 1,
  periods: firstPeriods(),
  freeMinutes: 30,
  unitMinutes: 15,
  unitPrice: '',
  dailyCap: '',
})

/** What is sent: the members that rules of this type have. */
function membersOf({ ruleName, periods, ...terms }: Entered, type: RuleType) {
  if (type !== 3) return { ruleName, periods: periods.map(toSend) }
  const { freeMinutes, unitMinutes, unitPrice, dailyCap } = terms
  return { ruleName, freeMinutes, unitMinutes, unitPrice, dailyCap: dailyCap === '' ? null : dailyCap }
}

interface RuleFormProps {
  form?: ReturnType<typeof Form.useForm<Entered>>[0]
  /** The rule that is changed; undefined for a new one. */
  initial: BillingRuleRecord | undefined
  verb: string
  back: string
  isReady: boolean
  /** Throws its refusal, which is `error` from then on. */
  save: (entered: Entered) => Promise<void>
  error: ForecourtError | null
  isSaving: boolean
  before: React.ReactNode
}

function RuleForm({ form: given, initial, verb, back, isReady, save, error, isSaving, before }: RuleFormProps) {
  const t = useTexts()
  const common = useCommon()
  const [form] = Form.useForm<Entered>(given)
  const [firstValues] = useState(() => (initial === undefined ? emptyEntered() : enteredOf(initial)))
  const [wasTried, setTried] = useState(false)
  const chosenType = Form.useWatch('ruleType', form) ?? firstValues.ruleType
  const told = Object.fromEntries((error?.errors ?? []).map(({ field, reason }) => [field, reason]))

  async function run(values: Entered): Promise<void> {
    try {
      await save({ ...form.getFieldsValue(true), ...values })
    } catch (refusal) {
      const { errors = [] } = refusal as ForecourtError
      form.setFields(
        errors
          .filter(({ field }) => isField(field))
          .map(({ field, reason }) => ({ name: field as keyof Entered, errors: [reason] })),
      )
    }
  }

  return (
    <Form<Entered>
      form={form}
      layout="vertical"
      initialValues={firstValues}
      onFinish={(values) => void run(values)}
      onFinishFailed={() => setTried(true)}
      scrollToFirstError={{ focus: true }}
    >
      <section className="card">
        {before}
        <RefusalAlert error={error} fieldNames={useFieldNames()} />
        <Form.Item
          name="ruleName"
          label={t('name')}
          rules={[{ required: true, whitespace: true, message: common('required') }]}
          style={{ maxWidth: 420 }}
        >
          <Input maxLength={64} autoComplete="off" />
        </Form.Item>
        {initial === undefined ? (
          <Form.Item name="ruleType" label={t('type')}>
            <Radio.Group
              optionType="button"
              options={([1, 2, 3] as const).map((value) => ({ value, label: t(`type_${value}`) }))}
            />
          </Form.Item>
        ) : (
          <p className="faint">{t('typeFixed', { type: t(`type_${chosenType}`) })}</p>
        )}
      </section>
      <section className="card">
        {chosenType === 3 ? (
          <OccupancyFields />
        ) : (
          <>
            <h2>{t('periods')}</h2>
            <Form.Item
              name="periods"
              rules={[
                {
                  validator: (_, periods: EditedPeriod[]) =>
                    isSound(periods) ? Promise.resolve() : Promise.reject(new Error(t('periodsFaulty'))),
                },
              ]}
              validateTrigger={[]}
            >
              <PeriodsEditor showsAll={wasTried} told={told} />
            </Form.Item>
          </>
        )}
      </section>
      <Space>
        <Button type="primary" htmlType="submit" loading={isSaving} disabled={!isReady}>
          {verb}
        </Button>
        <Link to={back}>{common('cancel')}</Link>
      </Space>
    </Form>
  )
}

const fields: readonly string[] = [
  'ruleName',
  'ruleType',
  'periods',
  'freeMinutes',
  'unitMinutes',
  'unitPrice',
  'dailyCap',
] satisfies (keyof Entered)[]
const isField = (name: string): boolean => fields.includes(name)

function useFieldNames(): Record<string, string> {
  const t = useTexts()
  return {
    ruleName: t('name'),
    ruleType: t('type'),
    periods: t('periods'),
    freeMinutes: t('freeMinutes'),
    unitMinutes: t('unitMinutes'),
    unitPrice: t('unitPrice'),
    dailyCap: t('dailyCap'),
  }
}

function OccupancyFields() {
  const t = useTexts()
  const common = useCommon()
  const needed = { required: true, message: common('required') }
  const amount = { pattern: moneyPattern, message: t('fault_money') }
  return (
    <>
      <h2>{t('terms')}</h2>
      <div style={{ display: 'grid', gap: '0 16px', gridTemplateColumns: 'repeat(auto-fill, minmax(180px, 1fr))' }}>
        <Form.Item name="freeMinutes" label={t('freeMinutes')} rules={[needed]}>
          <InputNumber min={0} max={525_600} precision={0} style={{ width: '100%' }} />
        </Form.Item>
        <Form.Item name="unitMinutes" label={t('unitMinutes')} rules={[needed]}>
          <InputNumber min={1} max={525_600} precision={0} style={{ width: '100%' }} />
        </Form.Item>
        <Form.Item name="unitPrice" label={t('unitPrice')} rules={[needed, amount]}>
          <Input inputMode="decimal" autoComplete="off" />
        </Form.Item>
        <Form.Item name="dailyCap" label={t('dailyCap')} extra={t('dailyCapHelp')} rules={[amount]}>
          <Input inputMode="decimal" autoComplete="off" />
        </Form.Item>
      </div>
    </>
  )
}

import { Button, Form, Input, InputNumber, Space } from 'antd'
import { useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import {
  type BillingRuleRecord,
  deleteBillingRule,
  getBillingRule,
  mostMinutes,
  saveBillingRule,
  updateBillingRule,
} from '../../../src/billing-rules/contract.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { useWrite } from '../api.ts'
import { paths } from '../paths.ts'
import { useMay } from '../session.tsx'
import { ApplicationPicker, useApplication } from '../ui/application-picker.tsx'
import { Page as PageFrame } from '../ui/page.tsx'
import { RecordForm, type RecordFormProps, useEdited } from '../ui/record-form.tsx'
import { Segments } from '../ui/segments.tsx'
import { useCommon } from '../ui/texts.ts'
import { DeleteRule } from './delete.tsx'
import { type EditedPeriod, firstPeriods, keyed, PeriodsEditor, toSend } from './periods.tsx'
import { isSound, money } from './rules.ts'
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

/** The form to create or change a billing rule. */
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
  const [appId, choose] = useApplication()
  const create = useWrite(saveBillingRule)
  return (
    <PageFrame title={t('newTitle')} operation={saveBillingRule}>
      <RuleForm
        appId={appId}
        send={({ values, headers }) => {
          const { ruleType } = values
          return create.mutateAsync({ input: { appId, ruleType, ...membersOf(values, ruleType) }, headers })
        }}
        successMessage={() => t('created')}
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
  const update = useWrite(updateBillingRule)
  const { edited, instead } = useEdited(getBillingRule, { appId, id })
  const rule = edited?.data
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
      {instead}
      {edited !== undefined &&
        (may(updateBillingRule) ? (
          <RuleForm
            appId={appId}
            edited={edited}
            send={({ values, headers }) => {
              const members = membersOf(values, edited.data.ruleType as RuleType)
              return update.mutateAsync({ input: { appId, id, ...members }, headers })
            }}
          />
        ) : (
          <RuleView rule={edited.data} />
        ))}
      <DeleteRule
        rule={isDeleting ? rule : undefined}
        onClose={() => setDeleting(false)}
        onDeleted={() => void navigate(paths.billingRules({ appId }))}
      />
    </PageFrame>
  )
}

/** The initial values: those of a rule, or a new rule with its first period. */
const enteredOf = (rule: BillingRuleRecord | undefined): Entered => ({
  ruleName: rule?.ruleName ?? '',
  ruleType: (rule?.ruleType ?? 1) as RuleType,
  periods: rule?.periods?.map(keyed) ?? firstPeriods(),
  freeMinutes: rule === undefined ? 30 : rule.freeMinutes,
  unitMinutes: rule === undefined ? 15 : rule.unitMinutes,
  unitPrice: rule?.unitPrice ?? '',
  dailyCap: rule?.dailyCap ?? '',
})

/** The request's body: the members that rules of this type have. */
function membersOf({ ruleName, periods, ...terms }: Entered, type: RuleType) {
  if (type !== 3) return { ruleName, periods: periods.map(toSend) }
  const { freeMinutes, unitMinutes, unitPrice, dailyCap } = terms
  return { ruleName, freeMinutes, unitMinutes, unitPrice, dailyCap: dailyCap === '' ? null : dailyCap }
}

type FrameProps = Pick<
  RecordFormProps<Entered, BillingRuleRecord, BillingRuleRecord>,
  'edited' | 'send' | 'successMessage'
>
interface RuleFormProps extends FrameProps {
  appId: string
  before?: React.ReactNode
}

function RuleForm({ appId, before, ...frame }: RuleFormProps) {
  const t = useTexts()
  const common = useCommon()
  const navigate = useNavigate()
  const [form] = Form.useForm<Entered>()
  const type = Form.useWatch('ruleType', form) ?? ((frame.edited?.data.ruleType ?? 1) as RuleType)
  const back = paths.billingRules({ appId })
  return (
    <RecordForm
      {...frame}
      form={form}
      valuesOf={enteredOf}
      isReady={appId !== ''}
      back={back}
      onSaved={() => navigate(back)}
      fieldNames={useFieldNames()}
    >
      {({ faults, wasTried }) => (
        <>
          <section className="card rule-head">
            {before}
            <Form.Item
              name="ruleName"
              label={t('name')}
              rules={[{ required: true, whitespace: true, message: common('required') }]}
            >
              <Input maxLength={lengths.name} autoComplete="off" />
            </Form.Item>
            {frame.edited === undefined ? (
              <Form.Item name="ruleType" label={t('type')}>
                <Segments
                  label={t('type')}
                  options={([1, 2, 3] as const).map((value) => ({ value, label: t(`type_${value}`) }))}
                />
              </Form.Item>
            ) : (
              <p className="faint">{t('typeFixed', { type: t(`type_${type}`) })}</p>
            )}
          </section>
          <section className="card">
            {type === 3 ? <OccupancyFields /> : <PeriodFields showsAll={wasTried} told={faults} />}
          </section>
        </>
      )}
    </RecordForm>
  )
}

function PeriodFields(editor: { showsAll: boolean; told: Record<string, string> }) {
  const t = useTexts()
  const isDay = (_: unknown, periods: EditedPeriod[]) =>
    isSound(periods) ? Promise.resolve() : Promise.reject(new Error(t('periodsFaulty')))
  return (
    <>
      <h2>{t('periods')}</h2>
      <Form.Item name="periods" rules={[{ validator: isDay }]} validateTrigger={[]}>
        <PeriodsEditor {...editor} />
      </Form.Item>
    </>
  )
}

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
  const amount = { pattern: money, message: t('fault_money') }
  return (
    <>
      <h2>{t('terms')}</h2>
      <div style={{ display: 'grid', gap: '0 16px', gridTemplateColumns: 'repeat(auto-fill, minmax(180px, 1fr))' }}>
        <Form.Item name="freeMinutes" label={t('freeMinutes')} rules={[needed]}>
          <InputNumber min={0} max={mostMinutes} precision={0} style={{ width: '100%' }} />
        </Form.Item>
        <Form.Item name="unitMinutes" label={t('unitMinutes')} rules={[needed]}>
          <InputNumber min={1} max={mostMinutes} precision={0} style={{ width: '100%' }} />
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

import { Form } from 'antd'
import { useNavigate, useParams } from 'react-router'
import {
  type BillingRuleRecord,
  getBillingRule,
  saveBillingRule,
  updateBillingRule,
} from '../../../src/billing-rules/contract.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { useWrite } from '../api/api.ts'
import { paths } from '../paths.ts'
import { FollowingSites } from '../prices/following-sites.tsx'
import { OldAndNew } from '../pricing/old-and-new.tsx'
import { type EnteredTerms, enteredTerms, TermsFields, termsToSend, useTermNames } from '../pricing/terms-fields.tsx'
import { useTexts } from '../pricing/texts.ts'
import { ApplicationPicker, useApplication } from '../ui/filter/filters.tsx'
import { RecordForm, type RecordFormProps, useEdited } from '../ui/form/record-form.tsx'
import { TextItem } from '../ui/form/text-item.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { Segments } from '../ui/page/segments.tsx'

interface Entered extends EnteredTerms {
  ruleName: string
  ruleType: 1 | 2 | 3
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
  const [appId, choose] = useApplication({ isOfNew: true })
  const create = useWrite(saveBillingRule)
  return (
    <PageFrame title={t('newBillingRule')} operation={saveBillingRule}>
      <RuleForm
        appId={appId}
        send={({ values, headers }) => {
          const { ruleType } = values
          return create.mutateAsync({ input: { appId, ruleType, ...membersOf(values, ruleType) }, headers })
        }}
        successMessage={() => t('created')}
        before={
          <Form.Item label={t('application')} required htmlFor="rule-application">
            <ApplicationPicker id="rule-application" value={appId} onChange={choose} />
          </Form.Item>
        }
      />
    </PageFrame>
  )
}

function Rule({ appId, id }: { appId: string; id: number }) {
  const t = useTexts()
  const update = useWrite(updateBillingRule)
  const { edited, instead } = useEdited(getBillingRule, { appId, id })
  const rule = edited?.data
  return (
    <PageFrame title={rule?.ruleName ?? t('billingRules')} operation={updateBillingRule}>
      {instead}
      {edited !== undefined && (
        <RuleForm
          appId={appId}
          edited={edited}
          send={({ values, headers }) => {
            const members = membersOf(values, edited.data.ruleType as RuleType)
            return update.mutateAsync({ input: { appId, id, ...members }, headers })
          }}
        />
      )}
    </PageFrame>
  )
}

/** The form's initial values: the terms of an existing rule, or the defaults of a new one. */
const enteredOf = (rule: BillingRuleRecord | undefined): Entered => ({
  ruleName: rule?.ruleName ?? '',
  ruleType: (rule?.ruleType ?? 1) as RuleType,
  ...enteredTerms(rule),
})

/** The request's body: the members that rules of this type have. */
const membersOf = ({ ruleName, ...terms }: Entered, type: RuleType) => ({ ruleName, ...termsToSend(terms, type) })

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
  const navigate = useNavigate()
  const [form] = Form.useForm<Entered>()
  const termNames = useTermNames()
  const type = Form.useWatch('ruleType', form) ?? ((frame.edited?.data.ruleType ?? 1) as RuleType)
  const rule = frame.edited?.data
  const back = rule === undefined ? paths.billingRules({ appId }) : paths.billingRule(appId, rule.id)
  return (
    <RecordForm
      {...frame}
      form={form}
      valuesOf={enteredOf}
      isReady={appId !== ''}
      back={back}
      onSaved={() => navigate(back, { replace: true })}
      fieldNames={{ ...termNames, ruleName: t('name'), ruleType: t('type') }}
    >
      {({ faults, wasTried }) => (
        <>
          <section className="card rule-head">
            {before}
            <TextItem name="ruleName" label={t('name')} most={lengths.name} isNeeded />
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
            <TermsFields type={type} showsAll={wasTried} told={faults} />
          </section>
          {rule !== undefined && (
            <OldAndNew form={form} rule={rule}>
              <p>{t('atOnce')}</p>
              <FollowingSites appId={appId} billingRuleId={rule.id} />
            </OldAndNew>
          )}
        </>
      )}
    </RecordForm>
  )
}

import { Form } from 'antd'
import { useNavigate, useParams } from 'react-router'
import { type BillingRuleRecord, getBillingRule } from '../../../src/billing-rules/contract.ts'
import { schedulePriceChange } from '../../../src/sites/price-changes/contract.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { useRead, useWrite } from '../api/api.ts'
import { paths } from '../paths.ts'
import { OldAndNew } from '../pricing/old-and-new.tsx'
import { type EnteredTerms, enteredTerms, TermsFields, termsToSend, useTermNames } from '../pricing/terms-fields.tsx'
import { RecordForm } from '../ui/form/record-form.tsx'
import { TextItem } from '../ui/form/text-item.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { Unread } from '../ui/page/refusal.tsx'
import { FollowingSites } from './following-sites.tsx'
import { MomentField, useServiceNow } from './moment-field.tsx'
import { presetMoments } from './presets.ts'
import { useTexts } from './texts.ts'

interface Entered extends EnteredTerms {
  effectiveTime: string
  reason: string
}

/** The form for other terms of a billing rule from a moment on. */
export function Page() {
  const t = useTexts()
  const { appId = '', id } = useParams()
  const { data: rule, error, refetch } = useRead(getBillingRule, { appId, id: Number(id) })
  const clock = useServiceNow()
  return (
    <PageFrame title={rule ? t('newTitle', { name: rule.ruleName }) : t('title')} operation={schedulePriceChange}>
      {rule !== undefined && clock !== undefined ? (
        <TermsForm rule={rule} tomorrow={presetMoments(clock.now).tomorrow} />
      ) : (
        <Unread error={error} refetch={refetch} />
      )}
    </PageFrame>
  )
}

function TermsForm({ rule, tomorrow }: { rule: BillingRuleRecord; tomorrow: string }) {
  const t = useTexts()
  const navigate = useNavigate()
  const schedule = useWrite(schedulePriceChange)
  const [form] = Form.useForm<Entered>()
  const termNames = useTermNames()
  const { appId, id } = rule
  const back = paths.billingRule(appId, id)
  return (
    <RecordForm<Entered, never, unknown>
      form={form}
      valuesOf={() => ({ ...enteredTerms(rule), effectiveTime: tomorrow, reason: '' })}
      verb={t('schedule')}
      successMessage={() => t('scheduled')}
      send={({ values: { effectiveTime, reason, ...terms }, headers }) =>
        schedule.mutateAsync({
          input: {
            appId,
            billingRuleId: id,
            effectiveTime,
            reason: reason.trim() === '' ? null : reason,
            ...termsToSend(terms, rule.ruleType),
          },
          headers,
        })
      }
      back={back}
      onSaved={() => navigate(back, { replace: true })}
      fieldNames={{ ...termNames, effectiveTime: t('effective'), reason: t('reason') }}
    >
      {({ faults, wasTried }) => (
        <>
          <section className="card">
            <Form.Item name="effectiveTime" label={t('effective')} rules={[{ required: true, message: t('required') }]}>
              <MomentField />
            </Form.Item>
            <TextItem
              name="reason"
              label={t('reason')}
              extra={t('reasonKept')}
              most={lengths.reason}
              itemClass="form-width"
            />
            <FollowingSites appId={appId} billingRuleId={id} />
          </section>
          <section className="card">
            <TermsFields type={rule.ruleType} showsAll={wasTried} told={faults} />
          </section>
          <OldAndNew form={form} rule={rule} />
        </>
      )}
    </RecordForm>
  )
}

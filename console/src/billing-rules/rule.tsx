import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import {
  type BillingRuleRecord,
  deleteBillingRule,
  getBillingRule,
  updateBillingRule,
} from '../../../src/billing-rules/contract.ts'
import { schedulePriceChange } from '../../../src/sites/price-changes/contract.ts'
import { useMay, useRead } from '../api/api.ts'
import { paths } from '../paths.ts'
import { FollowingSites } from '../prices/following-sites.tsx'
import { PriceLine } from '../prices/price-line.tsx'
import { useTexts as usePriceTexts } from '../prices/texts.ts'
import { useTexts } from '../pricing/texts.ts'
import { Button } from '../ui/page/button.tsx'
import { LinkButton } from '../ui/page/link-button.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { Unread } from '../ui/page/unread.tsx'
import { DeleteRule } from './delete.tsx'
import { RuleView } from './view.tsx'

/** One billing rule: its prices in the course of time, and the sites that follow it. */
export function Page() {
  const t = useTexts()
  const { appId = '', id } = useParams()
  const { data: rule, error, refetch } = useRead(getBillingRule, { appId, id: Number(id) }, { live: appId })
  return (
    <PageFrame
      title={rule?.ruleName ?? t('billingRules')}
      operation={getBillingRule}
      actions={rule && <Actions rule={rule} />}
    >
      {rule !== undefined ? (
        <>
          <RuleView rule={rule}>
            <FollowingSites appId={appId} billingRuleId={rule.id} />
          </RuleView>
          <PriceLine rule={rule} />
        </>
      ) : (
        <Unread error={error} refetch={refetch} />
      )}
    </PageFrame>
  )
}

function Actions({ rule }: { rule: BillingRuleRecord }) {
  const prices = usePriceTexts()
  const may = useMay()
  const navigate = useNavigate()
  const [isDeleting, setDeleting] = useState(false)
  const { appId, id } = rule
  return (
    <>
      {may(schedulePriceChange) && (
        <LinkButton type="primary" to={paths.newPrices(appId, id)}>
          {prices('pricesFrom')}
        </LinkButton>
      )}
      {may(updateBillingRule) && <LinkButton to={paths.editBillingRule(appId, id)}>{prices('edit')}</LinkButton>}
      {may(deleteBillingRule) && (
        <Button danger onClick={() => setDeleting(true)}>
          {prices('delete')}
        </Button>
      )}
      <DeleteRule
        rule={isDeleting ? rule : undefined}
        onClose={() => setDeleting(false)}
        onDeleted={() => void navigate(paths.billingRules({ appId }))}
      />
    </>
  )
}

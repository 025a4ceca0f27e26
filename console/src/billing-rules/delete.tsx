import { useState } from 'react'
import { Link } from 'react-router'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { type BillingRuleRecord, deleteBillingRule } from '../../../src/billing-rules/contract.ts'
import { useWrite } from '../api/api.ts'
import { paths } from '../paths.ts'
import { useTexts } from '../pricing/texts.ts'
import { Confirm } from '../ui/dialog/confirm.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'

interface DeleteRuleProps {
  /** The dialog is closed while it is undefined. */
  rule: BillingRuleRecord | undefined
  onClose: () => void
  onDeleted: () => void
}

/** Asks before a rule is deleted; if sites use it, links to them. */
export function DeleteRule({ rule, onClose, onDeleted }: DeleteRuleProps) {
  const t = useTexts()
  const remove = useWrite(deleteBillingRule)
  const [isInUse, setInUse] = useState(false)
  const { appId = '', id = 0, ruleName = '' } = rule ?? {}

  async function run(): Promise<void> {
    setInUse(false)
    try {
      await remove.mutateAsync({ input: { appId, id } })
    } catch (refusal) {
      setInUse((refusal as ForecourtError).code === 40004)
      throw refusal
    }
    showSuccess(t('deleted'))
    onDeleted()
  }

  function close(): void {
    setInUse(false)
    onClose()
  }

  return (
    <Confirm
      isOpen={rule !== undefined}
      title={t('deleteTitle', { name: ruleName })}
      verb={t('delete')}
      isDangerous
      run={run}
      onClose={close}
    >
      <p>
        {t(isInUse ? 'inUse' : 'deleteWords')} <Link to={paths.sites({ appId, billingRuleId: id })}>{t('sites')}</Link>
      </p>
    </Confirm>
  )
}

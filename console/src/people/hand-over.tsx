import { Form, Select } from 'antd'
import { useState } from 'react'
import { handOverOperatorKey, type OperatorKeyRecord, pageOperators } from '../../../src/people/operators/contract.ts'
import { useRead, useWrite } from '../api.ts'
import { Confirm } from '../ui/confirm.tsx'
import { showSuccess } from '../ui/feedback.tsx'
import { useTexts } from './texts.ts'

interface HandOverProps {
  operatorKey: OperatorKeyRecord | undefined
  onClose: () => void
}

/** Asks for the new owner of a key. */
export function HandOver({ operatorKey, onClose }: HandOverProps) {
  const t = useTexts()
  const handOver = useWrite(handOverOperatorKey)
  const [name, setName] = useState('')
  const [operatorId, setOperatorId] = useState<number>()
  const { data } = useRead(pageOperators, { pageSize: 100, status: 1, name }, { enabled: operatorKey !== undefined })
  // The service refuses operator keys of developers, so a developer cannot take one over.
  const owners = data?.list.filter(({ id, role }) => role !== 'developer' && id !== operatorKey?.operatorId) ?? []
  const { id = 0, name: key = '' } = operatorKey ?? {}
  const close = () => {
    setOperatorId(undefined)
    setName('')
    onClose()
  }
  return (
    <Confirm
      isOpen={operatorKey !== undefined}
      title={t('handOverTitle', { name: key })}
      verb={t('handOver')}
      isComplete={operatorId !== undefined}
      run={async () => {
        if (operatorId === undefined) return
        const { operatorName } = await handOver.mutateAsync({ input: { id, operatorId } })
        showSuccess(t('handedOver', { name: key, owner: operatorName ?? '' }))
      }}
      onClose={close}
    >
      <p>{t('handOverWords')}</p>
      <Form.Item label={t('newOwner')} layout="vertical">
        <Select
          showSearch={{ filterOption: false, onSearch: setName }}
          aria-label={t('newOwner')}
          style={{ width: '100%' }}
          {...(operatorId !== undefined && { value: operatorId })}
          onChange={setOperatorId}
          options={owners.map(({ id, name, role }) => ({
            value: id,
            label: `${name}（${t(`role_${role}` as 'role_admin')}）`,
          }))}
        />
      </Form.Item>
    </Confirm>
  )
}

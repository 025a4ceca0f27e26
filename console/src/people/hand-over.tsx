import { useQueryClient } from '@tanstack/react-query'
import { Alert, Form, Select } from 'antd'
import { useState } from 'react'
import {
  handOverOperatorKey,
  type OperatorKeyRecord,
  pageOperatorKeys,
  pageOperators,
} from '../../../src/people/operators/contract.ts'
import { call, readAnew, useRead, useWrite } from '../api.ts'
import { Confirm } from '../ui/confirm.tsx'
import { showSuccess } from '../ui/feedback.tsx'
import { useTexts } from './texts.ts'

interface OwnerPickerProps {
  /** The present owner, who is not offered. */
  except: number | null
  value: number | undefined
  onChange: (operatorId: number | undefined) => void
  isOptional?: boolean
}

/** Chooses who owns a key next. The service refuses operator keys of developers, so a developer cannot take one over. */
function OwnerPicker({ except, value, onChange, isOptional = false }: OwnerPickerProps) {
  const t = useTexts()
  const [name, setName] = useState('')
  const { data } = useRead(pageOperators, { pageSize: 100, status: 1, name })
  const owners = data?.list.filter(({ id, role }) => role !== 'developer' && id !== except) ?? []
  return (
    <Form.Item label={t('newOwner')} layout="vertical">
      <Select
        showSearch={{ filterOption: false, onSearch: setName }}
        aria-label={t('newOwner')}
        allowClear={isOptional}
        style={{ width: '100%' }}
        value={value ?? null}
        onChange={(chosen: number | null | undefined) => onChange(chosen ?? undefined)}
        options={owners.map(({ id, name, role }) => ({
          value: id,
          label: t('ofRole', { name, role: t(`role_${role}` as 'role_admin') }),
        }))}
      />
    </Form.Item>
  )
}

interface HandOverProps {
  operatorKey: OperatorKeyRecord | undefined
  onClose: () => void
}

/** Asks for the new owner of a key. */
export function HandOver({ operatorKey, onClose }: HandOverProps) {
  const t = useTexts()
  const handOver = useWrite(handOverOperatorKey)
  const [operatorId, setOperatorId] = useState<number>()
  const { id = 0, name: key = '' } = operatorKey ?? {}
  const close = () => {
    setOperatorId(undefined)
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
      <OwnerPicker except={operatorKey?.operatorId ?? null} value={operatorId} onChange={setOperatorId} />
    </Confirm>
  )
}

/** The keys that an account holds. */
function useKeysOf(operatorId: number | undefined): OperatorKeyRecord[] {
  const { data } = useRead(
    pageOperatorKeys,
    { operatorId: operatorId ?? 0, pageSize: 100 },
    { enabled: operatorId !== undefined },
  )
  return operatorId === undefined ? [] : (data?.list ?? [])
}

/**
 * The keys of an account that is about to end, and their new owner; `handOver` hands them over, one after the other.
 */
export function useLeaving(operatorId: number | undefined) {
  const queries = useQueryClient()
  const keys = useKeysOf(operatorId)
  const [owner, setOwner] = useState<number>()
  async function handOver(): Promise<void> {
    if (owner === undefined || keys.length === 0) return
    try {
      for (const { id } of keys) await call(handOverOperatorKey, { id, operatorId: owner })
    } finally {
      // A refusal can come after some keys were handed over; the dialog must not ask for those again.
      await readAnew(queries)
    }
  }
  return { operatorId, keys, owner, setOwner, handOver }
}

interface HeldKeysProps {
  leaving: ReturnType<typeof useLeaving>
  /** The sentence that is shown while no new owner is chosen: what becomes of the keys. */
  otherwise: string
}

/** Lists the keys of an account that is about to end, and asks who takes them over. */
export function HeldKeys({ leaving: { operatorId, keys, owner, setOwner }, otherwise }: HeldKeysProps) {
  const t = useTexts()
  if (operatorId === undefined || keys.length === 0) return null
  return (
    <>
      <p>{t('holdsKeys', { count: keys.length })}</p>
      <ul style={{ maxHeight: 160, overflow: 'auto', paddingInlineStart: 20 }}>
        {keys.map(({ id, name, role, lastUseTime }) => (
          <li key={id}>
            {t('ofRole', { name, role: t(`role_${role}` as 'role_admin') })}{' '}
            <span className="faint">{lastUseTime === null ? t('neverUsed') : t('usedAt', { time: lastUseTime })}</span>
          </li>
        ))}
      </ul>
      <OwnerPicker isOptional except={operatorId} value={owner} onChange={setOwner} />
      {owner === undefined && <Alert type="warning" showIcon title={otherwise} style={{ marginBottom: 12 }} />}
    </>
  )
}

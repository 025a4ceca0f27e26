import { Form, Select } from 'antd'
import { type ReactNode, useState } from 'react'
import {
  handOverOperatorKey,
  type OperatorKeyRecord,
  pageOperatorKeys,
  pageOperators,
} from '../../../src/people/operators/contract.ts'
import { pageViews, type ViewedPage } from '../../../src/people/views/contract.ts'
import { useRead, useWrite } from '../api/api.ts'
import { Confirm } from '../ui/dialog/confirm.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { Note } from '../ui/page/note.tsx'
import { useListNames } from '../views/list-names.ts'
import { useTexts } from './texts.ts'

interface OwnerPickerProps {
  /** The present owner, who is not offered. */
  except: number | null
  value: number | undefined
  onChange: (operatorId: number | undefined) => void
  isOptional?: boolean
  /** Whether there are keys: the service refuses keys of developers, so a developer cannot take one over. */
  ownsKeys?: boolean
}

/** Chooses the next owner of keys and views. */
function OwnerPicker({ except, value, onChange, isOptional = false, ownsKeys = true }: OwnerPickerProps) {
  const t = useTexts()
  const [name, setName] = useState('')
  const { data } = useRead(pageOperators, { pageSize: 100, status: 1, name })
  const owners = data?.list.filter(({ id, role }) => id !== except && !(ownsKeys && role === 'developer')) ?? []
  return (
    <Form.Item label={t('newOwner')} layout="vertical">
      <Select
        showSearch={{ filterOption: false, onSearch: setName }}
        aria-label={t('newOwner')}
        allowClear={isOptional}
        className="full-width"
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

/**
 * The keys and saved views of an account that is about to end, and their new owner. `input` is for the request that
 * ends the account, which hands them over too.
 */
export function useLeaving(operatorId: number | undefined) {
  const held = { operatorId: operatorId ?? 0, pageSize: 100 }
  const enabled = operatorId !== undefined
  const keys = useRead(pageOperatorKeys, held, { enabled }).data?.list ?? []
  const views = useRead(pageViews, held, { enabled }).data?.list ?? []
  const [owner, setOwner] = useState<number>()
  const isAsked = enabled && keys.length + views.length > 0
  return { operatorId, keys, views, owner, setOwner, isAsked, input: isAsked && { handOverTo: owner } }
}

interface HeldProps {
  leaving: ReturnType<typeof useLeaving>
  /** Whether the account is deleted, and not only disabled. */
  isDeleted?: boolean
}

/** Lists what an account holds that is about to end, and asks who takes it over. */
export function Held({ leaving, isDeleted = false }: HeldProps) {
  const { operatorId, keys, views, owner, setOwner, isAsked } = leaving
  const t = useTexts()
  const listName = useListNames()
  if (operatorId === undefined || !isAsked) return null
  return (
    <>
      {keys.length > 0 && <p>{t('holdsKeys', { count: keys.length })}</p>}
      <List>
        {keys.map(({ id, name, role, lastUseTime }) => (
          <li key={id}>
            {t('ofRole', { name, role: t(`role_${role}` as 'role_admin') })}{' '}
            <span className="faint">{lastUseTime === null ? t('neverUsed') : t('usedAt', { time: lastUseTime })}</span>
          </li>
        ))}
      </List>
      {views.length > 0 && <p>{t('holdsViews', { count: views.length })}</p>}
      <List>
        {views.map(({ id, name, page }) => (
          <li key={id}>
            {name} <span className="faint">{listName(page as ViewedPage)}</span>
          </li>
        ))}
      </List>
      <OwnerPicker isOptional ownsKeys={keys.length > 0} except={operatorId} value={owner} onChange={setOwner} />
      {owner === undefined && (
        <Note
          type="warning"
          words={
            <>
              {keys.length > 0 && <div>{t(isDeleted ? 'keysGo' : 'keysRest')}</div>}
              {views.length > 0 && <div>{t(isDeleted ? 'viewsGo' : 'viewsRest')}</div>}
            </>
          }
        />
      )}
    </>
  )
}

function List({ children }: { children: ReactNode[] }) {
  if (children.length === 0) return null
  return <ul className="refused-list">{children}</ul>
}

import { DatePicker, Form } from 'antd'
import dayjs, { type Dayjs } from 'dayjs'
import { useState } from 'react'
import type { Static } from 'typebox'
import {
  createOperatorKey,
  deleteOperatorKey,
  getOperator,
  keyDays,
  keyRoles,
  mostKeyDays,
  type OperatorKeyRecord,
  pageOperatorKeys,
} from '../../../src/people/operators/contract.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { useRead, useWrite } from '../api/api.ts'
import { ConfirmButton } from '../ui/dialog/confirm.tsx'
import { useFilters } from '../ui/filter/filters.tsx'
import { FormDrawer, RecordForm } from '../ui/form/record-form.tsx'
import { TextItem } from '../ui/form/text-item.tsx'
import { Button } from '../ui/page/button.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { leastForNames } from '../ui/table/rows.tsx'
import { SecretOnce } from '../ui/text/secret.tsx'
import { useServiceZone } from '../ui/text/service-zone.ts'
import { State } from '../ui/text/status.tsx'
import { RoleChoice, useFrame } from './form-parts.tsx'
import { HandOver } from './hand-over.tsx'
import { useTexts } from './texts.ts'

type Made = Static<typeof createOperatorKey.data>

/** The operator keys, by which programs act for the platform. */
export function Keys() {
  const t = useTexts()
  const filters = useFilters(['operatorId'] as const)
  const { values } = filters
  const { operatorId } = values
  const owner = useRead(getOperator, { id: Number(operatorId) }, { enabled: operatorId !== '' })
  const [isCreating, setCreating] = useState(false)
  const [made, setMade] = useState<Made>()
  const [leaving, setLeaving] = useState<OperatorKeyRecord>()
  const columns = useColumns(setLeaving)
  return (
    <section className="card">
      <div className="page-head">
        {operatorId !== '' && (
          <span>
            {t('onlyKeysOf', { name: owner.data?.name ?? operatorId })}{' '}
            <Button size="small" onClick={filters.clear}>
              {t('clearFilters')}
            </Button>
          </span>
        )}
        <span className="spacer" />
        <Button type="primary" onClick={() => setCreating(true)}>
          {t('newKey')}
        </Button>
      </div>
      <Records
        name="operatorKeys"
        operation={pageOperatorKeys}
        input={values}
        columns={columns}
        rowKey={({ id }) => id}
        filters={filters}
        empty={t('noKeys')}
      />
      <FormDrawer isOpen={isCreating} onClose={() => setCreating(false)} title={t('newKey')}>
        <CreateKey
          onClose={() => setCreating(false)}
          onCreated={(key) => {
            setCreating(false)
            setMade(key)
          }}
        />
      </FormDrawer>
      <SecretOnce
        title={t('keyNamed', { name: made?.name ?? '' })}
        secrets={made && { [t('operatorKey')]: made.operatorKey }}
        onClose={() => setMade(undefined)}
      />
      <HandOver operatorKey={leaving} onClose={() => setLeaving(undefined)} />
    </section>
  )
}

function useColumns(handOver: (key: OperatorKeyRecord) => void): Column<OperatorKeyRecord>[] {
  const t = useTexts()
  const revoke = useWrite(deleteOperatorKey)
  return [
    { key: 'name', title: t('name'), isFixed: true, most: 160, least: leastForNames },
    { key: 'role', title: t('role'), render: ({ role }) => t(`role_${role}` as 'role_admin') },
    {
      key: 'status',
      title: t('status'),
      render: ({ status }) => (
        <State tone={status === 1 ? 'good' : 'idle'}>{t(status === 1 ? 'keyWorks' : 'keyRests')}</State>
      ),
    },
    {
      key: 'owner',
      title: t('owner'),
      most: 140,
      least: leastForNames,
      render: ({ operatorName }) => operatorName ?? <span className="faint">{t('nothing')}</span>,
    },
    { key: 'createdBy', title: t('createdBy'), className: 'mono', isExtra: true },
    { key: 'createTime', title: t('createTime'), className: 'number', isExtra: 1440 },
    { key: 'expireTime', title: t('expireTime'), className: 'number' },
    { key: 'lastUseTime', title: t('lastUse'), className: 'number', none: t('never') },
    {
      key: 'actions',
      title: t('actions'),
      isFixed: true,
      render: (key) => (
        <div className="buttons">
          <Button size="small" aria-label={t('handOverOf', { name: key.name })} onClick={() => handOver(key)}>
            {t('handOver')}
          </Button>
          <ConfirmButton
            button={{ size: 'small', 'aria-label': t('revokeOf', { name: key.name }) }}
            title={t('revokeTitle', { name: key.name })}
            verb={t('revoke')}
            isDangerous
            typed={key.name}
            run={() => revoke.mutateAsync({ input: { id: key.id } })}
            done={t('revoked', { name: key.name })}
          >
            <p>{t('revokeWords')}</p>
          </ConfirmButton>
        </div>
      ),
    },
  ]
}

interface Entered {
  name: string
  role: (typeof keyRoles)[number]
  expireTime: Dayjs | null
}

function CreateKey({ onCreated, onClose }: { onCreated: (made: Made) => void; onClose: () => void }) {
  const t = useTexts()
  const timeZone = useServiceZone()
  const create = useWrite(createOperatorKey)
  return (
    <RecordForm
      {...useFrame()}
      valuesOf={(): Entered => ({ name: '', role: 'viewer', expireTime: null })}
      send={({ values: { expireTime, ...members }, headers }) => {
        const input = { ...members, expireTime: expireTime?.format('YYYY-MM-DD HH:mm:ss') ?? null }
        return create.mutateAsync({ input, headers })
      }}
      successMessage={({ name }) => t('created', { name })}
      onSaved={onCreated}
      back={onClose}
    >
      <p className="faint">{t('keyWords')}</p>
      <TextItem name="name" label={t('name')} most={lengths.name} isNeeded />
      <Form.Item name="role" label={t('role')}>
        <RoleChoice roles={keyRoles} words={(role) => t(`keyWords_${role}`)} />
      </Form.Item>
      <Form.Item
        name="expireTime"
        label={t('expireTime')}
        extra={t('expireHelp', { zone: timeZone ?? '', days: keyDays, most: mostKeyDays })}
      >
        <DatePicker
          showTime={{ defaultValue: dayjs('00:00:00', 'HH:mm:ss') }}
          format="YYYY-MM-DD HH:mm:ss"
          className="full-width"
          // Enter in this field accepts the time; it must not submit the form.
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
      </Form.Item>
    </RecordForm>
  )
}

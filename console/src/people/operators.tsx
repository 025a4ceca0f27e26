import { EllipsisOutlined } from '@ant-design/icons'
import { useState } from 'react'
import { Link } from 'react-router'
import {
  deleteOperator,
  type OperatorRecord,
  pageOperators,
  resetOperator,
} from '../../../src/people/operators/contract.ts'
import { resetSecondFactors } from '../../../src/people/second-factor/contract.ts'
import { unlinkSignOn } from '../../../src/people/sign-on/contract.ts'
import { everyRole } from '../../../src/vocabulary/roles.ts'
import { useWrite } from '../api/api.ts'
import { paths } from '../paths.ts'
import { Confirm } from '../ui/dialog/confirm.tsx'
import { Dropdown } from '../ui/dialog/dropdown.tsx'
import { ApplicationFilter, ChoiceFilter, TextFilter, useFilters } from '../ui/filter/filters.tsx'
import { Button } from '../ui/page/button.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { leastForNames } from '../ui/table/rows.tsx'
import { ApplicationName } from '../ui/text/application-name.tsx'
import { SecretOnce } from '../ui/text/secret.tsx'
import { State } from '../ui/text/status.tsx'
import { FilterBar } from '../views/filter-bar.tsx'
import { Held, useLeaving } from './hand-over.tsx'
import { CreateOperator, EditOperator } from './operator-forms.tsx'
import { useTexts } from './texts.ts'

type DeedOnAccount = 'edit' | 'reset' | 'delete' | 'resetFactor' | 'unlink'

/** The open dialog: an action on an account, or the creation of one. */
type OpenDialog = { kind: 'create' } | { kind: DeedOnAccount; operator: OperatorRecord }

interface SetUp {
  name: string
  setUpPath: string | null
  setUpExpireTime: string | null
}

/** The accounts of people. */
export function Operators() {
  const t = useTexts()
  const filters = useFilters(['name', 'role', 'status', 'appId'] as const)
  const { values, of } = filters
  const [dialog, setDialog] = useState<OpenDialog>()
  const [setUp, setSetUp] = useState<SetUp>()
  const columns = useColumns(setDialog)
  const close = () => setDialog(undefined)
  const operator = dialog === undefined || dialog.kind === 'create' ? undefined : dialog.operator
  return (
    <section className="card">
      <FilterBar
        views="operators"
        values={values}
        beside={
          <Button type="primary" onClick={() => setDialog({ kind: 'create' })}>
            {t('newOperator')}
          </Button>
        }
      >
        <TextFilter label={t('name')} {...of('name')} />
        <ChoiceFilter
          label={t('role')}
          {...of('role')}
          choices={Object.fromEntries(everyRole.map((role) => [role, t(`role_${role}`)]))}
        />
        <ChoiceFilter label={t('status')} {...of('status')} choices={{ 1: t('active'), 2: t('disabled') }} />
        <ApplicationFilter isOptional {...of('appId')} />
      </FilterBar>
      <Records
        name="operators"
        operation={pageOperators}
        input={values}
        columns={columns}
        rowKey={({ id }) => id}
        filters={filters}
        empty={t('noOperators')}
      />
      <CreateOperator
        isOpen={dialog?.kind === 'create'}
        onClose={close}
        onCreated={(made) => {
          close()
          if (!made.isSetUp) setSetUp(made)
        }}
      />
      <EditOperator
        id={dialog?.kind === 'edit' ? operator?.id : undefined}
        name={operator?.name ?? ''}
        onClose={close}
      />
      {operator && dialog && dialog.kind !== 'create' && dialog.kind !== 'edit' && (
        <Deed deed={dialog.kind} operator={operator} onClose={close} onReset={setSetUp} />
      )}
      <SecretOnce
        title={t('linkTitle', { name: setUp?.name ?? '' })}
        secrets={
          setUp && {
            [t('link', { time: setUp.setUpExpireTime ?? '' })]: setUp.setUpPath && location.origin + setUp.setUpPath,
          }
        }
        onClose={() => setSetUp(undefined)}
      />
    </section>
  )
}

function useColumns(start: (dialog: OpenDialog) => void): Column<OperatorRecord>[] {
  const t = useTexts()
  return [
    { key: 'name', title: t('name'), isFixed: true, most: 200, least: leastForNames },
    { key: 'id', title: 'ID', className: 'number', isExtra: true },
    { key: 'role', title: t('role'), render: ({ role }) => t(`role_${role}` as 'role_admin') },
    { key: 'status', title: t('status'), render: (operator) => <AccountState operator={operator} /> },
    { key: 'signsInBy', title: t('signInMethod'), isExtra: 1280, render: (operator) => <WaysIn operator={operator} /> },
    {
      key: 'secondFactor',
      title: t('secondFactor'),
      render: ({ hasSecondFactor }) =>
        hasSecondFactor ? <State tone="good">{t('hasFactor')}</State> : <span className="faint">{t('nothing')}</span>,
    },
    { key: 'applications', title: t('applications'), render: (operator) => <Memberships operator={operator} /> },
    { key: 'signInTime', title: t('signInTime'), className: 'number', none: t('never') },
    {
      key: 'createTime',
      title: t('createTime'),
      className: 'number',
      // Hidden by default: with this column, the actions would not fit into a window of usual width.
      isExtra: true,
    },
    {
      key: 'keys',
      title: t('keys'),
      render: ({ id, name }) => (
        <Link to={`${paths.people()}?tab=keys&operatorId=${id}`} aria-label={t('keysOf', { name })}>
          {t('keys')}
        </Link>
      ),
    },
    {
      key: 'sessions',
      isExtra: 1200,
      title: t('sessions'),
      render: ({ id, name }) => (
        <Link to={`${paths.people()}?tab=sessions&operatorId=${id}`} aria-label={t('sessionsOf', { name })}>
          {t('sessions')}
        </Link>
      ),
    },
    {
      key: 'actions',
      title: t('actions'),
      isFixed: true,
      render: (operator) => {
        const { name } = operator
        return (
          <div className="buttons">
            <Button size="small" aria-label={t('editName', { name })} onClick={() => start({ kind: 'edit', operator })}>
              {t('edit')}
            </Button>
            <MoreDeeds operator={operator} start={start} />
          </div>
        )
      },
    },
  ]
}

/** The acts that are rare, or that take something away. */
function MoreDeeds({ operator, start }: { operator: OperatorRecord; start: (dialog: OpenDialog) => void }) {
  const t = useTexts()
  const { name, source, isLinked, hasSecondFactor } = operator
  const deed = (kind: DeedOnAccount, label: string, isOffered = true, danger = false) =>
    isOffered ? [{ key: kind, label, danger, onClick: () => start({ kind, operator }) }] : []
  const items = [
    ...deed('reset', t('reset'), source === 1),
    ...deed('resetFactor', t('resetFactor'), hasSecondFactor),
    ...deed('unlink', t('unlink'), isLinked && source === 1),
    ...deed('delete', t('delete'), true, true),
  ]
  return (
    <Dropdown menu={{ items }}>
      <Button size="small" icon={<EllipsisOutlined />} aria-label={t('moreOf', { name })} />
    </Dropdown>
  )
}

/** How a person can sign in: by a password, at the provider, or both. */
function WaysIn({ operator: { source, isLinked } }: { operator: OperatorRecord }) {
  const t = useTexts()
  if (source === 2) return t('bySignOn')
  return (
    <>
      <div>{t('password')}</div>
      {isLinked && <div>{t('bySignOn')}</div>}
    </>
  )
}

function AccountState({ operator: { status, isSetUp } }: { operator: OperatorRecord }) {
  const t = useTexts()
  if (status !== 1) return <State tone="idle">{t('disabled')}</State>
  return isSetUp ? <State tone="good">{t('active')}</State> : <State tone="warn">{t('notSetUp')}</State>
}

/** The most names to show; further ones are only counted. */
const mostNames = 2

function Memberships({ operator: { role, appIds } }: { operator: OperatorRecord }) {
  const t = useTexts()
  if (role !== 'developer') return <span className="faint">{t('all')}</span>
  if (appIds.length === 0) return <State tone="warn">{t('nothing')}</State>
  if (appIds.length > mostNames) return t('applicationCount', { count: appIds.length })
  return appIds.map((appId) => (
    <div key={appId}>
      <ApplicationName appId={appId} />
    </div>
  ))
}

interface DeedProps {
  deed: Exclude<DeedOnAccount, 'edit'>
  operator: OperatorRecord
  onClose: () => void
  onReset: (setUp: SetUp) => void
}

/** Asks before something is done to an account that it can hardly take back. */
function Deed({ deed, operator: { id, name, role }, onClose, onReset }: DeedProps) {
  const t = useTexts()
  const [reset, resetFactor] = [useWrite(resetOperator), useWrite(resetSecondFactors)]
  const [unlink, remove] = [useWrite(unlinkSignOn), useWrite(deleteOperator)]
  const leaving = useLeaving(deed === 'delete' ? id : undefined)
  const asked = {
    reset: {
      title: t('resetTitle', { name }),
      words: t('resetWords', { name }),
      run: async () => onReset(await reset.mutateAsync({ input: { id } })),
    },
    resetFactor: {
      title: t('resetFactorTitle', { name }),
      words: t('resetFactorWords', { name }),
      wantsReason: true,
      run: (reason: string) => resetFactor.mutateAsync({ input: { id, reason } }),
      done: t('factorReset', { name }),
    },
    unlink: {
      title: t('unlinkTitle', { name }),
      words: t('unlinkWords', { name }),
      run: () => unlink.mutateAsync({ input: { id } }),
      done: t('unlinked', { name }),
    },
    delete: {
      title: t('deleteName', { name }),
      words: t('deleteWords', { name }),
      typed: name,
      fieldNames: { handOverTo: t('newOwner') },
      run: () => remove.mutateAsync({ input: { id, ...leaving.input } }),
      done: t('deleted', { name }),
    },
  }
  const { words, ...question } = asked[deed]
  return (
    <Confirm isOpen verb={t(deed)} isDangerous {...question} onClose={onClose}>
      <p>{words}</p>
      {deed === 'delete' && <Held leaving={leaving} isDeleted />}
      {role === 'admin' && (deed === 'reset' || deed === 'delete') && (
        <p>
          {t('adminWords')} {t('lastAdminWords')}
        </p>
      )}
    </Confirm>
  )
}

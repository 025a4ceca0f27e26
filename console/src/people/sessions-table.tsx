import { deleteSession, pageSessions, type SessionRecord } from '../../../src/people/sessions/contract.ts'
import { useSession, useWrite } from '../api/api.ts'
import { ConfirmButton } from '../ui/dialog/confirm.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { State } from '../ui/text/status.tsx'
import { readUserAgent } from '../words/user-agent.ts'
import { useTexts } from './texts.ts'

interface SessionsTableProps {
  /** The key under which the choice of columns is stored. */
  name: string
  /** The filters of `pageSessions`. */
  input: Record<string, unknown>
  /** Whether all sessions are the user's own; the table then has no column of their owners. */
  isOwn?: boolean
  filters?: { isNarrowed: boolean; clear: () => void }
}

/** Sessions, each with a button to end it. The current one ends by signing out. */
export function SessionsTable({ name, input, isOwn = false, filters }: SessionsTableProps) {
  return (
    <Records
      name={name}
      operation={pageSessions}
      input={input}
      columns={useColumns(isOwn)}
      rowKey={({ id }) => id ?? 0}
      filters={filters}
    />
  )
}

function useColumns(isOwn: boolean): Column<SessionRecord>[] {
  const t = useTexts()
  const end = useWrite(deleteSession)
  const { id: own } = useSession()
  const holder: Column<SessionRecord>[] = [
    { key: 'name', title: t('who'), isFixed: true, most: 200 },
    { key: 'kind', title: t('kind'), render: ({ operatorId }) => t(operatorId === null ? 'key' : 'account') },
    { key: 'role', title: t('role'), render: ({ role }) => t(`role_${role}` as 'role_admin') },
  ]
  return [
    ...(isOwn ? [] : holder),
    {
      key: 'userAgent',
      title: t('browser'),
      render: ({ userAgent }) => <span title={userAgent ?? ''}>{readUserAgent(userAgent ?? '')}</span>,
    },
    {
      key: 'method',
      title: t('signInMethod'),
      render: ({ method }) => method && t(`method_${method}` as 'method_passkey'),
    },
    { key: 'address', title: t('ipAddress'), className: 'mono' },
    { key: 'createTime', title: t('began'), className: 'number' },
    { key: 'seenTime', title: t('lastUse'), className: 'number' },
    { key: 'expireTime', title: t('expireTime'), className: 'number', isExtra: true },
    {
      key: 'actions',
      title: t('actions'),
      isFixed: true,
      render: (session) =>
        session.id === own ? (
          <State tone="good">{t('thisOne')}</State>
        ) : (
          <ConfirmButton
            button={{ size: 'small', 'aria-label': t('endOf', { name: session.name, time: session.createTime ?? '' }) }}
            title={t('endTitle', { name: session.name })}
            verb={t('end')}
            isDangerous
            run={() => end.mutateAsync({ input: { id: session.id } })}
            done={t('ended')}
          >
            <p>{t('endWords')}</p>
          </ConfirmButton>
        ),
    },
  ]
}

import { useState } from 'react'
import { deleteSession, pageSessions, type SessionRecord } from '../../../src/people/sessions/contract.ts'
import { useWrite } from '../api/api.ts'
import { useSession } from '../api/session.tsx'
import { Confirm } from '../ui/dialog/confirm.tsx'
import { Button } from '../ui/page/button.tsx'
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
  const t = useTexts()
  const end = useWrite(deleteSession)
  const [chosen, setChosen] = useState<SessionRecord>()
  const columns = useColumns(isOwn, setChosen)
  return (
    <>
      <Records
        name={name}
        operation={pageSessions}
        input={input}
        columns={columns}
        rowKey={({ id }) => id ?? 0}
        filters={filters}
      />
      <Confirm
        isOpen={chosen !== undefined}
        title={t('endTitle', { name: chosen?.name ?? '' })}
        verb={t('end')}
        isDangerous
        run={() => end.mutateAsync({ input: { id: chosen?.id ?? null } })}
        done={t('ended')}
        onClose={() => setChosen(undefined)}
      >
        <p>{t('endWords')}</p>
      </Confirm>
    </>
  )
}

function useColumns(isOwn: boolean, choose: (session: SessionRecord) => void): Column<SessionRecord>[] {
  const t = useTexts()
  const { id: own } = useSession()
  const holder: Column<SessionRecord>[] = [
    { key: 'name', title: t('who'), isFixed: true, most: 200 },
    { key: 'kind', title: t('kind'), render: (_, { operatorId }) => t(operatorId === null ? 'key' : 'account') },
    { key: 'role', title: t('role'), render: (_, { role }) => t(`role_${role}` as 'role_admin') },
  ]
  return [
    ...(isOwn ? [] : holder),
    {
      key: 'userAgent',
      title: t('browser'),
      render: (_, { userAgent }) => <span title={userAgent ?? ''}>{readUserAgent(userAgent ?? '')}</span>,
    },
    {
      key: 'method',
      title: t('signInMethod'),
      render: (_, { method }) => method && t(`method_${method}` as 'method_passkey'),
    },
    { key: 'address', title: t('ipAddress'), className: 'mono' },
    { key: 'createTime', title: t('began'), className: 'number' },
    { key: 'seenTime', title: t('lastUse'), className: 'number' },
    { key: 'expireTime', title: t('expireTime'), className: 'number', isExtra: true },
    {
      key: 'actions',
      title: t('actions'),
      isFixed: true,
      render: (_, session) =>
        session.id === own ? (
          <State tone="good">{t('thisOne')}</State>
        ) : (
          <Button
            size="small"
            aria-label={t('endOf', { name: session.name, time: session.createTime ?? '' })}
            onClick={() => choose(session)}
          >
            {t('end')}
          </Button>
        ),
    },
  ]
}

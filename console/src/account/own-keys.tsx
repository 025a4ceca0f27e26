import { type OperatorKeyRecord, pageOwnOperatorKeys } from '../../../src/people/operators/contract.ts'
import { useRead } from '../api/api.ts'
import { useTexts as usePeopleTexts } from '../people/texts.ts'
import { Card } from '../ui/page/page.tsx'
import { Rows } from '../ui/table/rows.tsx'
import { State } from '../ui/text/status.tsx'
import { useTexts } from './texts.ts'

/** The operator keys that one's account owns. Keys are handed over to accounts of every role, and only admins list all. */
export function OwnKeys() {
  const t = useTexts()
  const people = usePeopleTexts()
  const { data } = useRead(pageOwnOperatorKeys, { pageSize: 100 })
  if (data === undefined || data.total === 0) return null
  return (
    <Card title={t('ownKeys')}>
      <p className="faint">{t('ownKeysWords')}</p>
      <Rows<OperatorKeyRecord>
        label={t('ownKeys')}
        rowKey={({ id }) => id}
        rows={data.list}
        empty={null}
        columns={[
          { key: 'name', title: people('name'), most: 200 },
          { key: 'role', title: people('role'), render: (_, { role }) => people(`role_${role}` as 'role_admin') },
          {
            key: 'status',
            title: people('status'),
            render: (_, { status }) => (
              <State tone={status === 1 ? 'good' : 'idle'}>{people(status === 1 ? 'keyWorks' : 'keyRests')}</State>
            ),
          },
          { key: 'expireTime', title: people('expireTime'), className: 'number' },
          {
            key: 'lastUseTime',
            title: people('lastUse'),
            className: 'number',
            render: (_, { lastUseTime }) => lastUseTime ?? <span className="faint">{people('never')}</span>,
          },
        ]}
      />
    </Card>
  )
}

import { Radio } from 'antd'
import type { Role } from '../../../src/vocabulary/roles.ts'
import { useTexts } from './texts.ts'

interface RoleChoiceProps<Offered extends Role> {
  id?: string
  value?: Offered
  onChange?: (role: Offered) => void
  roles: readonly Offered[]
  /** The rights of each role, in a sentence. */
  words: (role: Offered) => string
}

/** Chooses a role; each is shown with its rights. */
export function RoleChoice<Offered extends Role>({ id, value, onChange, roles, words }: RoleChoiceProps<Offered>) {
  const t = useTexts()
  return (
    <Radio.Group
      {...(id === undefined ? {} : { id })}
      value={value}
      onChange={({ target }) => onChange?.(target.value)}
      style={{ display: 'grid', gap: 8 }}
    >
      {roles.map((role) => (
        <Radio key={role} value={role} styles={{ icon: { alignSelf: 'flex-start', marginTop: 3 } }}>
          <div>{t(`role_${role}`)}</div>
          <div className="faint" style={{ fontSize: 13 }}>
            {words(role)}
          </div>
        </Radio>
      ))}
    </Radio.Group>
  )
}

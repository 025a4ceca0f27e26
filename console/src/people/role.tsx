import { Radio } from 'antd'
import { useTexts } from './texts.ts'

interface RoleChoiceProps<Role extends string> {
  id?: string
  value?: Role
  onChange?: (role: Role) => void
  roles: readonly Role[]
  /** What each may do, in a sentence. */
  words: (role: Role) => string
}

/** A choice of roles, each with what it may do. */
export function RoleChoice<Role extends 'admin' | 'operator' | 'viewer' | 'developer'>({
  id,
  value,
  onChange,
  roles,
  words,
}: RoleChoiceProps<Role>) {
  const t = useTexts()
  return (
    <Radio.Group
      {...(id === undefined ? {} : { id })}
      value={value}
      onChange={({ target }) => onChange?.(target.value as Role)}
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

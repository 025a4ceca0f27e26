import { Radio } from 'antd'
import type { Role } from '../../../src/vocabulary/roles.ts'
import { useTexts } from './texts.ts'

interface RoleChoiceProps<Offered extends Role> {
  id?: string
  value?: Offered
  onChange?: (role: Offered) => void
  roles: readonly Offered[]
  /** Describes the rights of each role in a sentence. */
  words: (role: Offered) => string
  isDisabled?: boolean
}

/** Chooses a role; each is shown with its rights. */
export function RoleChoice<Offered extends Role>(props: RoleChoiceProps<Offered>) {
  const { id, value, onChange, roles, words, isDisabled = false } = props
  const t = useTexts()
  return (
    <Radio.Group
      {...(id === undefined ? {} : { id })}
      value={value}
      disabled={isDisabled}
      onChange={({ target }) => onChange?.(target.value)}
      className="stacked"
    >
      {roles.map((role) => (
        <Radio key={role} value={role} styles={{ icon: { alignSelf: 'flex-start', marginTop: 3 } }}>
          <div>{t(`role_${role}`)}</div>
          <div className="faint small">{words(role)}</div>
        </Radio>
      ))}
    </Radio.Group>
  )
}

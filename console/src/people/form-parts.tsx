import { Radio } from 'antd'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import type { Role } from '../../../src/vocabulary/roles.ts'
import { useCommon } from '../language/index.ts'
import { applicationOption, NothingFound, useApplicationSearch } from '../ui/filter/search.tsx'
import { ManySelect } from '../ui/form/many-select.tsx'
import { ApplicationLabel } from '../ui/text/application-name.tsx'
import { useTexts } from './texts.ts'

/** Shared by the forms of accounts and keys: the names of fields, and advice about refusals. */
export function useFrame() {
  const t = useTexts()
  return {
    fieldNames: {
      name: t('name'),
      role: t('role'),
      password: t('password'),
      appIds: t('applications'),
      status: t('status'),
      expireTime: t('expireTime'),
      handOverTo: t('newOwner'),
    },
    faultsOf: ({ code, errors }: ForecourtError) =>
      code === 10051 ? [{ field: 'name', reason: t('nameTaken') }] : errors,
    advice: ({ code }: ForecourtError) => {
      if (code === 10054) return <p>{t('lastAdminWords')}</p>
      return code === 10065 && <p>{t('managedWords')}</p>
    },
  }
}

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

interface ApplicationsPickerProps {
  id?: string
  value?: string[]
  onChange?: (appIds: string[]) => void
}

/** Chooses several applications by parts of their names. */
export function ApplicationsPicker({ id, value = [], onChange }: ApplicationsPickerProps) {
  const t = useCommon()
  const { search, found, isWaiting } = useApplicationSearch()
  return (
    <ManySelect
      {...(id === undefined ? {} : { id })}
      showSearch={{ filterOption: false, onSearch: search, autoClearSearchValue: true }}
      placeholder={t('chooseApplication')}
      value={value}
      onChange={(appIds: string[]) => onChange?.(appIds)}
      loading={isWaiting}
      notFoundContent={<NothingFound isWaiting={isWaiting} words={t('noApplications')} />}
      labelRender={({ value: appId }) => <ApplicationLabel appId={String(appId)} />}
      options={found.map(applicationOption)}
    />
  )
}

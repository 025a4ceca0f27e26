import { useCommon } from '../language/index.ts'
import { applicationOption, useApplicationSearch } from '../ui/filter/application-search.tsx'
import { NothingFound } from '../ui/filter/typed-search.tsx'
import { ManySelect } from '../ui/form/many-select.tsx'
import { ApplicationLabel } from '../ui/text/application-name.tsx'

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

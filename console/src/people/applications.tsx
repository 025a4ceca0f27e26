import { Empty, Select } from 'antd'
import { useEffect, useState } from 'react'
import { getApplication, pageApplications } from '../../../src/applications/contract.ts'
import { useRead } from '../api.ts'
import { useCommon } from '../ui/texts.ts'

interface ApplicationsPickerProps {
  id?: string
  value?: string[]
  onChange?: (appIds: string[]) => void
}

/** Chooses any number of applications by parts of their names. */
export function ApplicationsPicker({ id, value = [], onChange }: ApplicationsPickerProps) {
  const t = useCommon()
  const [name, setName] = useState('')
  const [asked, setAsked] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setAsked(name), 250)
    return () => clearTimeout(timer)
  }, [name])
  const found = useRead(pageApplications, { pageSize: 20, appName: asked }, { keepsPrevious: true })
  return (
    <Select
      {...(id === undefined ? {} : { id })}
      mode="multiple"
      showSearch={{ filterOption: false, onSearch: setName, autoClearSearchValue: true }}
      placeholder={t('chooseApplication')}
      value={value}
      onChange={(appIds: string[]) => onChange?.(appIds)}
      loading={found.isFetching}
      notFoundContent={<Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('noApplications')} />}
      labelRender={({ value: appId }) => <ApplicationName appId={String(appId)} />}
      options={(found.data?.list ?? []).map(({ appId, appName }) => ({
        value: appId,
        label: (
          <span>
            {appName} <span className="faint mono">{appId.slice(0, 8)}</span>
          </span>
        ),
      }))}
    />
  )
}

/** An application's name, as soon as it is known. */
export function ApplicationName({ appId }: { appId: string }) {
  const { data } = useRead(getApplication, { appId })
  return <>{data?.appName ?? <span className="mono">{appId.slice(0, 8)}</span>}</>
}

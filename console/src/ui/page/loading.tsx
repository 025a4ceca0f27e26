import { Spin } from 'antd'
import { useCommon } from '../../language/index.ts'

export function Loading() {
  const t = useCommon()
  return (
    <output style={{ display: 'grid', placeItems: 'center', minHeight: 240 }} aria-label={t('loading')}>
      <Spin />
    </output>
  )
}

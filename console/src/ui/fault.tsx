import { Button } from 'antd'
import { Result } from './result.tsx'
import { useCommon } from './texts.ts'

/** Shown when a page throws, or when its chunk cannot be loaded, for example after an upgrade of the console. */
export function PageFault() {
  const t = useCommon()
  return (
    <Result
      status="error"
      title={t('broken')}
      extra={<Button onClick={() => location.reload()}>{t('reload')}</Button>}
    />
  )
}

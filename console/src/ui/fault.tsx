import { Button } from 'antd'
import { Result } from './result.tsx'
import { useCommon } from './texts.ts'

/** What is shown when a page breaks, or its chunk cannot be loaded, which a new version of the console may be the cause of. */
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

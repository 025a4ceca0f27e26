import { useCommon } from '../../language/index.ts'
import { Button } from './button.tsx'
import { Result } from './result.tsx'

/** Shown when a page throws. */
export const PageFault = () => <Fault />

/** Shown when a page’s file cannot be loaded, for example after an upgrade of the console. */
export const MissingPage = () => <Fault isMissing />

function Fault({ isMissing = false }: { isMissing?: boolean }) {
  const t = useCommon()
  return (
    <Result
      status="error"
      title={t('broken')}
      subTitle={isMissing && t('newVersion')}
      extra={<Button onClick={() => location.reload()}>{t('reload')}</Button>}
    />
  )
}

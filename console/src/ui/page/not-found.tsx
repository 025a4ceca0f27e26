import { Link } from 'react-router'
import { useCommon } from '../../language/index.ts'
import { paths } from '../../paths.ts'
import { Page as PageFrame } from './page.tsx'
import { Result } from './result.tsx'

export function Page() {
  const t = useCommon()
  return (
    <PageFrame title="404">
      <Result status="info" title={t('notFound')} extra={<Link to={paths.overview()}>{t('toOverview')}</Link>} />
    </PageFrame>
  )
}

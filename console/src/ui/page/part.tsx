import { Button } from 'antd'
import { type ComponentType, type LazyExoticComponent, lazy, useState } from 'react'
import { useCommon } from '../../language/index.ts'

// Parts of a page that are loaded on demand. After an upgrade of the service, the files of an open page are gone: then
// only the part fails, and what was entered on the page is still there.

// biome-ignore lint/suspicious/noExplicitAny: as in React’s own type of `lazy`
type Loading<Part extends ComponentType<any>> = () => Promise<{ default: Part }>

/** As React’s `lazy`; if the part can’t be loaded, a notice takes its place. */
// biome-ignore lint/suspicious/noExplicitAny: as in React’s own type of `lazy`
export function part<Part extends ComponentType<any>>(load: Loading<Part>): LazyExoticComponent<Part> {
  return lazy(() => load().catch(() => ({ default: missing(load) as unknown as Part })))
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function missing<Part extends ComponentType<any>>(load: Loading<Part>) {
  return function Missing(props: React.ComponentProps<Part>) {
    const [Loaded, setLoaded] = useState<Part>()
    if (Loaded !== undefined) return <Loaded {...props} />
    const retry = () =>
      load().then(
        (module) => setLoaded(() => module.default),
        () => {},
      )
    return <MissingPart retry={() => void retry()} />
  }
}

/** Says, above the page, that a part of it is missing. Reloading asks first if something would be lost. */
function MissingPart({ retry }: { retry: () => void }) {
  const t = useCommon()
  return (
    <div role="alert" className="missing-part card">
      <span className="notice-words">{t('partMissing')}</span>
      <Button onClick={retry}>{t('retry')}</Button>
      <Button onClick={() => location.reload()}>{t('reload')}</Button>
    </div>
  )
}

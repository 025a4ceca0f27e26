import { type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react'
import { useCommon } from '../../language/index.ts'
import { Button } from './button.tsx'

// Parts of a page that are loaded on demand. After an upgrade of the service, the files of an open page are gone: then
// only the part fails, and what was entered on the page is still there.

/**
 * A component whose code is loaded when it is first shown. Until then `placeOf` stands for it; if it can’t be loaded, a
 * notice takes its place.
 */
export function part<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  placeOf: (props: Props) => ReactNode = () => null,
) {
  const Loaded = lazy<ComponentType<object>>(async () => ({
    default: (await load().catch(() => missing(load))) as ComponentType<object>,
  }))
  return function Part(props: Props) {
    return (
      <Suspense fallback={placeOf(props)}>
        <Loaded {...props} />
      </Suspense>
    )
  }
}

function missing<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  return function Missing(props: Props) {
    const [Loaded, setLoaded] = useState<ComponentType<Props>>()
    if (Loaded !== undefined) return <Loaded {...props} />
    const retry = () =>
      load().then(
        (component) => setLoaded(() => component),
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

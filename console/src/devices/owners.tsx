import { Timeline } from 'antd'
import type { Binding } from '../../../src/devices/ownership/contract.ts'
import { Loading } from '../ui/page/loading.tsx'
import { Actor } from '../ui/text/actor.tsx'
import { ApplicationName } from '../ui/text/application-name.tsx'
import { State } from '../ui/text/status.tsx'
import { useDeviceTexts } from './texts.ts'

/** The bindings of a serial number, newest first. */
export function Owners({ bindings }: { bindings: Binding[] | undefined }) {
  const t = useDeviceTexts()
  if (bindings === undefined) return <Loading />
  return (
    <Timeline
      items={bindings.map((binding) => ({
        key: `${binding.appId} ${binding.boundAt} ${binding.unboundAt}`,
        color: binding.unboundAt === null ? 'green' : 'gray',
        content: (
          <div>
            <div>
              <ApplicationName appId={binding.appId} />
            </div>
            <div className="number">
              {binding.boundAt} – {binding.unboundAt ?? <State tone="good">{t('historyUntilNow')}</State>}
            </div>
            {binding.unboundBy !== null && (
              <div className="faint">
                {t('historyBy')} <Actor actor={binding.unboundBy} />
              </div>
            )}
            {binding.reason !== null && <div className="wraps">{binding.reason}</div>}
          </div>
        ),
      }))}
    />
  )
}

import type { TObject } from 'typebox'
import { pageDeliveries } from '../../../src/deliveries/contract.ts'
import { pageDevices } from '../../../src/devices/contract.ts'
import { pageSites } from '../../../src/sites/contract.ts'
import type { Operation } from '../../../src/vocabulary/operation.ts'
import type { Input } from '../api/api.ts'
import { useRead } from '../api/api.ts'
import { paths } from '../paths.ts'
import { Figure } from '../ui/text/figure.tsx'
import { grouped } from '../ui/text/number.ts'
import { State } from '../ui/text/status.tsx'
import { useCounts } from '../words/counts.ts'

/** The total that a page operation returns, which has a limit. */
function useTotal<Body extends TObject, Query extends TObject>(operation: Operation<Body, Query>, input: object) {
  const asked = { ...input, pageSize: 1 } as unknown as Input<Body, Query>
  const page = useRead(operation, asked).data as { total: number; totalIsExact: boolean } | undefined
  return page && (page.totalIsExact ? page.total : `${grouped(page.total)}+`)
}

/** The counts of an application's records, and of those that need attention. */
export function Holdings({ appId }: { appId: string }) {
  const t = useCounts()
  const { waitingEvents } = useRead(pageDeliveries, { appId, status: 1, pageSize: 1 }).data ?? {}
  return (
    <div className="grid-cards spaced">
      <Figure name={t('sites')} value={useTotal(pageSites, { appId })} to={paths.sites({ appId })} />
      <Figure name={t('devices')} value={useTotal(pageDevices, { appId })} to={paths.devices({ appId })} />
      <Figure
        name={t('offline')}
        value={useTotal(pageDevices, { appId, onlineStatus: 2 })}
        to={paths.devices({ appId, onlineStatus: 2 })}
      />
      <Figure
        name={t('faulty')}
        isBad
        value={useTotal(pageDevices, { appId, status: 2 })}
        to={paths.devices({ appId, status: 2 })}
      />
      <Figure
        name={t('waiting')}
        value={useTotal(pageDeliveries, { appId, status: 1 })}
        to={paths.deliveries({ appId, status: 1 })}
      >
        {waitingEvents != null && waitingEvents > 0 && (
          <State tone="busy">{t('eventsWaiting', { count: grouped(waitingEvents) })}</State>
        )}
      </Figure>
      <Figure
        name={t('dead')}
        isBad
        value={useTotal(pageDeliveries, { appId, status: 3 })}
        to={paths.deliveries({ appId, status: 3 })}
      />
    </div>
  )
}

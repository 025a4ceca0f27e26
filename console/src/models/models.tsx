import { useSearchParams } from 'react-router'
import { pageDeviceInventory } from '../../../src/devices/inventory/contract.ts'
import { pageDeviceModels } from '../../../src/devices/models/contract.ts'
import { defineTexts } from '../language/index.ts'
import { paths } from '../paths.ts'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { Parts } from '../ui/page/parts.tsx'
import { Inventory } from './inventory.tsx'
import { Models } from './model-list.tsx'

const useTexts = defineTexts({
  tabs: ['Models and inventory', '型号或库存'],
  models: ['Models', '型号'],
  inventory: ['Inventory', '库存'],
})

/** The models of serial numbers: by prefix, or for each serial number in the inventory. */
export function Page() {
  const t = useTexts()
  const [search] = useSearchParams()
  const tab = search.get('tab') === 'inventory' ? 'inventory' : 'models'
  return (
    <PageFrame operation={tab === 'inventory' ? pageDeviceInventory : pageDeviceModels}>
      <Parts
        label={t('tabs')}
        current={tab}
        // The other table has its own filters and pages, so the address is reset.
        parts={[
          { key: 'models', title: t('models'), path: paths.models() },
          { key: 'inventory', title: t('inventory'), path: paths.models({ tab: 'inventory' }) },
        ]}
      />
      <section className="card">{tab === 'models' ? <Models /> : <Inventory />}</section>
    </PageFrame>
  )
}

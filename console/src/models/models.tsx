import { Tabs } from 'antd'
import { useSearchParams } from 'react-router'
import { pageDeviceInventory } from '../../../src/devices/inventory/contract.ts'
import { pageDeviceModels } from '../../../src/devices/models/contract.ts'
import { defineTexts } from '../language/index.ts'
import { Page as PageFrame } from '../ui/page.tsx'
import { Inventory } from './inventory.tsx'
import { Models } from './model-list.tsx'

const useTexts = defineTexts(
  { title: 'Models and inventory', models: 'Models', inventory: 'Inventory' },
  { title: '型号与库存', models: '型号', inventory: '库存' },
)

/** The models of serial numbers: by prefix, or for each serial number in the inventory. */
export function Page() {
  const t = useTexts()
  const [search, setSearch] = useSearchParams()
  const tab = search.get('tab') === 'inventory' ? 'inventory' : 'models'
  return (
    <PageFrame title={t('title')} operation={tab === 'inventory' ? pageDeviceInventory : pageDeviceModels}>
      <section className="card" style={{ paddingTop: 4 }}>
        <Tabs
          activeKey={tab}
          // The other table has its own filters and pages, so the address is reset.
          onChange={(key) => setSearch(key === 'inventory' ? { tab: key } : {})}
          destroyOnHidden
          items={[
            { key: 'models', label: t('models'), children: <Models /> },
            { key: 'inventory', label: t('inventory'), children: <Inventory /> },
          ]}
        />
      </section>
    </PageFrame>
  )
}

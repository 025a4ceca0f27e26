import { useState } from 'react'
import {
  deleteDeviceInventory,
  type InventoryEntry,
  importDeviceInventory,
  pageDeviceInventory,
} from '../../../src/devices/inventory/contract.ts'
import { getSettings } from '../../../src/people/sessions/contract.ts'
import { useMay, useRead, useWrite } from '../api/api.ts'
import { plainCode } from '../browser/typed.ts'
import { defineTexts } from '../language/index.ts'
import { paths } from '../paths.ts'
import { TextFilter, useFilters } from '../ui/filter/filters.tsx'
import { Button, LinkButton } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { RowButtons } from '../ui/table/row-buttons.tsx'
import { FilterBar } from '../views/filter-bar.tsx'
import { AddSerials } from './add-serials.tsx'

const useTexts = defineTexts({
  add: ['Add', '添加'],
  empty: ['The inventory is empty.', '库存为空。'],
  required: ['The inventory policy is “required”', '库存策略为“required”（必须在库）'],
  requiredWords: [
    'Only serial numbers in the inventory can be bound. Others are refused with error 20014.',
    '仅库存中的设备序列号可以注册，其他一律以错误码 20014 拒绝。',
  ],
  open: ['The inventory policy is “open”', '库存策略为“open”（不限）'],
  openWords: [
    'Any serial number can be bound. The inventory determines the device model.',
    '任意设备序列号均可注册。库存用于确定设备型号。',
  ],
  deleteTitle: ['Remove this serial number from the inventory?', '将此设备序列号移出库存？'],
  deleteWords: ['If a device already uses it, the device keeps its model.', '已注册的设备不受影响，型号保留。'],
  deleteRequired: ['The serial number can’t be bound again afterwards.', '此后该设备序列号无法重新注册。'],
  deleted: ['Serial number removed.', '已移出。'],
})

const filterNames = ['deviceNo', 'modelName'] as const

/** The inventory: serial numbers with their models. */
export function Inventory() {
  const t = useTexts()
  const may = useMay()
  const filters = useFilters(filterNames)
  const { values, of } = filters
  const [isAdding, setAdding] = useState(false)
  const remove = useWrite(deleteDeviceInventory)
  const isRequired = useRead(getSettings, {}).data?.inventoryPolicy === 'required'
  const columns: Column<InventoryEntry>[] = [
    { key: 'deviceNo', title: t('deviceNo'), className: 'mono', isFixed: true, most: 300 },
    { key: 'modelName', title: t('modelName'), most: 300 },
    { key: 'createTime', title: t('createTime'), className: 'number' },
  ]
  const actions: Column<InventoryEntry> = {
    key: 'actions',
    title: t('actions'),
    isFixed: true,
    render: ({ deviceNo }) => (
      <RowButtons
        name={deviceNo}
        title={t('deleteTitle')}
        run={() => remove.mutateAsync({ input: { deviceNo } })}
        done={t('deleted')}
      >
        <p className="mono">{deviceNo}</p>
        <p>
          {t('deleteWords')} {isRequired && t('deleteRequired')}
        </p>
      </RowButtons>
    ),
  }
  return (
    <>
      <Policy />
      <FilterBar
        views="inventory"
        values={values}
        beside={
          may(importDeviceInventory) && (
            <div className="buttons">
              <LinkButton to={paths.newImport({ kind: 'inventory' })}>{t('importFile')}</LinkButton>
              <Button type="primary" onClick={() => setAdding(true)}>
                {t('add')}
              </Button>
            </div>
          )
        }
      >
        <TextFilter label={t('deviceNo')} {...of('deviceNo')} meaning={plainCode} />
        <TextFilter label={t('modelName')} {...of('modelName')} />
      </FilterBar>
      <Records
        name="inventory"
        operation={pageDeviceInventory}
        input={values}
        columns={may(deleteDeviceInventory) ? [...columns, actions] : columns}
        rowKey={({ deviceNo }) => deviceNo}
        filters={filters}
        empty={t('empty')}
      />
      <AddSerials isOpen={isAdding} close={() => setAdding(false)} />
    </>
  )
}

/** A notice whether only serials in the inventory may be registered. */
function Policy() {
  const t = useTexts()
  const { data } = useRead(getSettings, {})
  if (data === undefined) return null
  const policy = data.inventoryPolicy === 'required' ? 'required' : 'open'
  return (
    <Note type="info" words={t(policy)}>
      {t(`${policy}Words`)}
    </Note>
  )
}

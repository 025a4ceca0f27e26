import { Checkbox, Form, Input, Tag } from 'antd'
import { useState } from 'react'
import { deleteRegion, pageRegions, type SavedRegionRecord, saveRegion } from '../../../src/regions/contract.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { useMay, useWrite } from '../api/api.ts'
import { defineTexts } from '../language/index.ts'
import { TextFilter, useFilters } from '../ui/filter/filters.tsx'
import { FormDrawer, RecordForm } from '../ui/form/record-form.tsx'
import { Button } from '../ui/page/button.tsx'
import { Page as PageFrame } from '../ui/page/page.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { RowButtons } from '../ui/table/row-buttons.tsx'
import { FilterBar } from '../views/filter-bar.tsx'

const useTexts = defineTexts({
  explanation: [
    'Regions that the built-in table lacks, or that have another name there. Devices show these names immediately.',
    '内置行政区划表中没有的，或名称不同的行政区划。设备立即显示这里的名称。',
  ],
  code: ['Code', '代码'],
  parentCode: ['Parent code', '上级代码'],
  builtInName: ['Built-in name', '内置名称'],
  current: ['Current', '有效'],
  ended: ['Ended', '已撤销'],
  isEnded: ['This region has ended', '此行政区划已撤销'],
  endedHint: ['Devices still show its name, but you can’t choose it any longer.', '设备仍显示其名称，但不再可选。'],
  add: ['Add region', '添加行政区划'],
  editTitle: ['Region {{code}}', '行政区划 {{code}}'],
  empty: [
    'No saved regions yet. Add a region that is newer than the built-in table.',
    '还没有保存的行政区划。可添加比内置表更新的行政区划。',
  ],
  deleteTitle: ['Delete {{name}}?', '删除“{{name}}”？'],
  deleteWords: [
    'Devices with this code show the built-in name again, or none.',
    '使用此代码的设备将重新显示内置名称；内置表中没有时不显示名称。',
  ],
  deleted: ['Region deleted.', '已删除行政区划。'],
  codeHint: ['Six digits. Provinces end in 0000, cities in 00.', '六位数字。省级以 0000 结尾，市级以 00 结尾。'],
  parentHint: ['Leave empty for the nearest region above.', '留空则取最近的上级。'],
  sixDigits: ['Must be six digits, not beginning with 0.', '必须是六位数字，且不以 0 开头。'],
})

const filterNames = ['code', 'name'] as const

/** The regions that operators have saved. */
export function Page() {
  const t = useTexts()
  const may = useMay()
  const filters = useFilters(filterNames)
  const { values, of } = filters
  const [edited, setEdited] = useState<SavedRegionRecord | 'new'>()
  const columns = useColumns(setEdited)
  return (
    <PageFrame operation={pageRegions}>
      <section className="card">
        <p className="faint flush-above">{t('explanation')}</p>
        <FilterBar
          views="regions"
          values={values}
          beside={
            may(saveRegion) && (
              <Button type="primary" onClick={() => setEdited('new')}>
                {t('add')}
              </Button>
            )
          }
        >
          <TextFilter label={t('code')} {...of('code')} />
          <TextFilter label={t('name')} {...of('name')} />
        </FilterBar>
        <Records
          name="regions"
          operation={pageRegions}
          input={values}
          columns={columns}
          rowKey={({ code }) => code}
          filters={filters}
          empty={t('empty')}
        />
      </section>
      <FormDrawer
        isOpen={edited !== undefined}
        title={edited === undefined || edited === 'new' ? t('add') : t('editTitle', { code: edited.code })}
        onClose={() => setEdited(undefined)}
      >
        {edited !== undefined && (
          <RegionForm region={edited === 'new' ? undefined : edited} close={() => setEdited(undefined)} />
        )}
      </FormDrawer>
    </PageFrame>
  )
}

function useColumns(edit: (region: SavedRegionRecord) => void): Column<SavedRegionRecord>[] {
  const t = useTexts()
  const may = useMay()
  const remove = useWrite(deleteRegion)
  const columns: Column<SavedRegionRecord>[] = [
    { key: 'code', title: t('code'), className: 'mono', isFixed: true },
    { key: 'name', title: t('name'), isFixed: true, most: 200 },
    { key: 'builtInName', title: t('builtInName'), most: 200, render: (region) => region.builtInName ?? '–' },
    { key: 'parentCode', title: t('parentCode'), className: 'mono', render: (region) => region.parentCode ?? '–' },
    { key: 'status', title: t('status'), render: ({ isEnded }) => <Tag>{isEnded ? t('ended') : t('current')}</Tag> },
    { key: 'createTime', title: t('createTime'), className: 'number' },
  ]
  if (!may(saveRegion)) return columns
  return [
    ...columns,
    {
      key: 'actions',
      title: t('actions'),
      isFixed: true,
      render: (region) => (
        <RowButtons
          name={region.code}
          edit={() => edit(region)}
          title={t('deleteTitle', { name: region.name })}
          run={() => remove.mutateAsync({ input: { code: region.code } })}
          done={t('deleted')}
        >
          <p>{t('deleteWords')}</p>
        </RowButtons>
      ),
    },
  ]
}

const valuesOf = (region: SavedRegionRecord | undefined) => ({
  code: region?.code ?? '',
  name: region?.name ?? '',
  parentCode: region?.parentCode ?? '',
  isEnded: region?.isEnded ?? false,
})
type Entered = ReturnType<typeof valuesOf>

function RegionForm({ region, close }: { region: SavedRegionRecord | undefined; close: () => void }) {
  const t = useTexts()
  const [form] = Form.useForm<Entered>()
  const save = useWrite(saveRegion)
  const needed = { required: true, whitespace: true, message: t('required') }
  const sixDigits = { pattern: /^\s*[1-9]\d{5}\s*$/, message: t('sixDigits') }
  const labels = { code: t('code'), name: t('name'), parentCode: t('parentCode'), isEnded: t('isEnded') }
  return (
    <RecordForm
      form={form}
      valuesOf={() => valuesOf(region)}
      send={({ values, headers }) => {
        const { code, name, parentCode, isEnded } = values
        const input = { code: code.trim(), name: name.trim(), parentCode: parentCode.trim(), isEnded }
        return save.mutateAsync({ input, headers })
      }}
      onSaved={close}
      verb={t('save')}
      back={close}
      fieldNames={labels}
    >
      <Form.Item name="code" label={labels.code} extra={t('codeHint')} rules={[needed, sixDigits]}>
        <Input
          autoComplete="off"
          inputMode="numeric"
          className="mono"
          disabled={region !== undefined}
          autoFocus={region === undefined}
        />
      </Form.Item>
      <Form.Item
        name="name"
        label={labels.name}
        rules={[needed, { max: lengths.name, message: t('tooLong', { max: lengths.name }) }]}
      >
        <Input autoComplete="off" autoFocus={region !== undefined} />
      </Form.Item>
      <Form.Item name="parentCode" label={labels.parentCode} extra={t('parentHint')} rules={[sixDigits]}>
        <Input autoComplete="off" inputMode="numeric" className="mono" />
      </Form.Item>
      <Form.Item name="isEnded" valuePropName="checked" extra={t('endedHint')}>
        <Checkbox>{labels.isEnded}</Checkbox>
      </Form.Item>
    </RecordForm>
  )
}

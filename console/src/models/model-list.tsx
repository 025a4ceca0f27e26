import { Form, Input } from 'antd'
import { useState } from 'react'
import {
  type DeviceModelRecord,
  deleteDeviceModel,
  pageDeviceModels,
  saveDeviceModel,
} from '../../../src/devices/models/contract.ts'
import { lengths, serialPattern } from '../../../src/vocabulary/values.ts'
import { call, useMay, useWrite } from '../api/api.ts'
import { Picture } from '../devices/picture.tsx'
import { defineTexts } from '../language/index.ts'
import { TextFilter, useFilters } from '../ui/filter/filters.tsx'
import { FormDrawer, RecordForm, type Sending } from '../ui/form/record-form.tsx'
import { Button } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { type Column, Records } from '../ui/table/records.tsx'
import { RowButtons } from '../ui/table/row-buttons.tsx'
import { FilterBar } from '../views/filter-bar.tsx'

const useTexts = defineTexts({
  explanation: [
    'A device gets the model with the longest matching serial prefix. An inventory entry overrides all prefixes.',
    '设备序列号匹配最长的前缀，取其型号。库存条目优先于所有前缀。',
  ],
  serialPrefix: ['Serial prefix', '序列号前缀'],
  productPictureUrl: ['Picture URL', '图片地址'],
  deviceTypeName: ['Type name', '类型名称'],
  picture: ['Picture', '图片'],
  newModel: ['New model', '新建型号'],
  editTitle: ['Model for {{prefix}}', '{{prefix}} 的型号'],
  empty: [
    'No device models yet. Add one to show models for matching serial numbers.',
    '还没有设备型号。前缀匹配后，设备即显示型号。',
  ],
  deleteTitle: ['Delete this model?', '删除此型号？'],
  deleteWords: [
    'Existing devices keep this model. New devices get the model of a shorter prefix, or none.',
    '已有设备保留其型号。此后注册的设备取较短前缀的型号，或没有型号。',
  ],
  deleted: ['Device model deleted.', '已删除。'],
  keeps: ['Existing devices keep their model.', '此前注册的设备保留原型号。'],
  taken: [
    'This prefix already has a model: {{name}}. Save again to replace it.',
    '此前缀已有型号：{{name}}。再次保存将替换它。',
  ],
  replace: ['Replace', '替换'],
  pictureHint: ['Shown next to its devices. Must begin with https://.', '显示在设备旁，以 https:// 开头。'],
})

const filterNames = ['serialPrefix', 'modelName'] as const

/** The device models, by serial prefix. */
export function Models() {
  const t = useTexts()
  const may = useMay()
  const filters = useFilters(filterNames)
  const { values, of } = filters
  const [edited, setEdited] = useState<DeviceModelRecord | 'new'>()
  const columns = useColumns(setEdited)
  return (
    <>
      <p className="faint flush-above">{t('explanation')}</p>
      <FilterBar
        views="models"
        values={values}
        beside={
          may(saveDeviceModel) && (
            <Button type="primary" onClick={() => setEdited('new')}>
              {t('newModel')}
            </Button>
          )
        }
      >
        <TextFilter label={t('serialPrefix')} {...of('serialPrefix')} />
        <TextFilter label={t('modelName')} {...of('modelName')} />
      </FilterBar>
      <Records
        name="models"
        operation={pageDeviceModels}
        input={values}
        columns={columns}
        rowKey={({ serialPrefix }) => serialPrefix}
        filters={filters}
        empty={t('empty')}
      />
      <ModelDialog edited={edited} close={() => setEdited(undefined)} />
    </>
  )
}

function useColumns(edit: (model: DeviceModelRecord) => void): Column<DeviceModelRecord>[] {
  const t = useTexts()
  const may = useMay()
  const remove = useWrite(deleteDeviceModel)
  const columns: Column<DeviceModelRecord>[] = [
    {
      key: 'picture',
      title: t('picture'),
      render: ({ productPictureUrl, modelName }) => (
        <Picture key={productPictureUrl} url={productPictureUrl} alt={t('pictureOf', { name: modelName })} size={36} />
      ),
    },
    { key: 'serialPrefix', title: t('serialPrefix'), className: 'mono', isFixed: true, most: 160 },
    { key: 'modelName', title: t('modelName'), isFixed: true, most: 160 },
    {
      key: 'deviceTypeName',
      title: t('deviceTypeName'),
      most: 160,
      render: (model) => model.deviceTypeName ?? t('unknown'),
    },
    { key: 'deviceType', title: t('type'), most: 120, none: t('unknown') },
    { key: 'createTime', title: t('createTime'), className: 'number' },
  ]
  if (!may(saveDeviceModel)) return columns
  return [
    ...columns,
    {
      key: 'actions',
      title: t('actions'),
      isFixed: true,
      render: (model) => (
        <RowButtons
          name={model.serialPrefix}
          edit={() => edit(model)}
          title={t('deleteTitle')}
          run={() => remove.mutateAsync({ input: { serialPrefix: model.serialPrefix } })}
          done={t('deleted')}
        >
          <p>
            <strong>{model.modelName}</strong> <span className="mono">{model.serialPrefix}</span>
          </p>
          <p>{t('deleteWords')}</p>
        </RowButtons>
      ),
    },
  ]
}

interface ModelDialogProps {
  edited: DeviceModelRecord | 'new' | undefined
  close: () => void
}

function ModelDialog({ edited, close }: ModelDialogProps) {
  const t = useTexts()
  const title =
    edited === 'new' || edited === undefined ? t('newModel') : t('editTitle', { prefix: edited.serialPrefix })
  return (
    <FormDrawer isOpen={edited !== undefined} title={title} onClose={close}>
      {edited !== undefined && <ModelForm model={edited === 'new' ? undefined : edited} close={close} />}
    </FormDrawer>
  )
}

const valuesOf = (model: DeviceModelRecord | undefined) => ({
  serialPrefix: model?.serialPrefix ?? '',
  modelName: model?.modelName ?? '',
  productPictureUrl: model?.productPictureUrl ?? '',
  deviceType: model?.deviceType ?? '',
  deviceTypeName: model?.deviceTypeName ?? '',
})
type Entered = ReturnType<typeof valuesOf>

/** Finds the model of exactly this prefix. The page is sorted by prefix, so an exact match comes first. */
async function findModel(serialPrefix: string): Promise<DeviceModelRecord | undefined> {
  const { data } = await call(pageDeviceModels, { serialPrefix, pageSize: 1 })
  const [first] = data.list
  return first?.serialPrefix === serialPrefix ? first : undefined
}

function ModelForm({ model, close }: { model: DeviceModelRecord | undefined; close: () => void }) {
  const t = useTexts()
  const [form] = Form.useForm<Entered>()
  const save = useWrite(saveDeviceModel)
  /** The model that a save would replace, once the user was warned. The warning is valid only for this prefix. */
  const [found, setFound] = useState<DeviceModelRecord>()
  const typedPrefix = Form.useWatch('serialPrefix', form)?.trim()
  const replaced = found?.serialPrefix === typedPrefix ? found : undefined
  const needed = { required: true, whitespace: true, message: t('required') }
  const atMost = (max: number) => ({ max, message: t('tooLong', { max }) })
  const [pictureUrl, setPictureUrl] = useState(model?.productPictureUrl ?? '')
  const labels = {
    serialPrefix: t('serialPrefix'),
    modelName: t('modelName'),
    productPictureUrl: t('productPictureUrl'),
    deviceType: t('type'),
    deviceTypeName: t('deviceTypeName'),
  }

  async function send({ values, headers }: Sending<Entered>): Promise<DeviceModelRecord | undefined> {
    const serialPrefix = values.serialPrefix.trim()
    const taken = model === undefined && replaced === undefined ? await findModel(serialPrefix) : undefined
    setFound(taken ?? replaced)
    if (taken !== undefined) return undefined
    return save.mutateAsync({ input: { ...values, serialPrefix, modelName: values.modelName.trim() }, headers })
  }

  return (
    <RecordForm
      form={form}
      valuesOf={() => valuesOf(model)}
      send={send}
      onSaved={close}
      verb={replaced === undefined ? t('save') : t('replace')}
      back={close}
      fieldNames={labels}
    >
      {replaced && <Note type="warning" words={t('taken', { name: replaced.modelName })} />}
      <Form.Item
        name="serialPrefix"
        label={labels.serialPrefix}
        extra={t('explanation')}
        rules={[
          needed,
          {
            pattern: new RegExp(serialPattern, 'u'),
            transform: (text) => text.trim(),
            message: t('badSerial', { max: lengths.serial }),
          },
        ]}
      >
        <Input autoComplete="off" className="mono" disabled={model !== undefined} autoFocus={model === undefined} />
      </Form.Item>
      <Form.Item name="modelName" label={labels.modelName} extra={t('keeps')} rules={[needed, atMost(lengths.name)]}>
        <Input autoComplete="off" autoFocus={model !== undefined} />
      </Form.Item>
      <Form.Item name="deviceTypeName" label={labels.deviceTypeName} rules={[atMost(lengths.name)]}>
        <Input autoComplete="off" />
      </Form.Item>
      <Form.Item name="deviceType" label={labels.deviceType} rules={[atMost(lengths.name)]}>
        <Input autoComplete="off" />
      </Form.Item>
      <Form.Item
        name="productPictureUrl"
        label={labels.productPictureUrl}
        extra={t('pictureHint')}
        rules={[atMost(lengths.url)]}
      >
        <Input autoComplete="off" inputMode="url" onBlur={({ target }) => setPictureUrl(target.value.trim())} />
      </Form.Item>
      {/* Its space is reserved, so that the buttons below do not move away from under a click. */}
      <div className="spaced">
        <Picture key={pictureUrl} url={pictureUrl} alt={t('picture')} size={96} />
      </div>
    </RecordForm>
  )
}

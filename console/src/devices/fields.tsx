import { Form, type FormInstance, Input } from 'antd'
import { Link } from 'react-router'
import { takeApplicationOnline } from '../../../src/applications/contract.ts'
import { defaultCityCode, defaultProvinceCode } from '../../../src/devices/contract.ts'
import { importDeviceInventory } from '../../../src/devices/inventory/contract.ts'
import { getRegion } from '../../../src/regions/contract.ts'
import { useRead } from '../api/api.ts'
import { useMay } from '../api/session.tsx'
import { type Draft, type FieldName, faultsOf, isNeeded, tidyPair } from '../imports/row-faults.ts'
import { defineTexts } from '../language/index.ts'
import { swapped } from '../map/point.ts'
import { paths } from '../paths.ts'
import { RegionChoice } from '../regions/region-choice.tsx'
import { Button } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { useSeesAll } from './parts.tsx'
import { useDeviceTexts, useFieldNames } from './texts.ts'

const useTexts = defineTexts(
  {
    defaultCode: 'If empty: {{code}} (the default).',
    unknownRegion: 'This code isn’t in the region table. It’s saved as is and shown without a name.',
    otherProvince: 'This district isn’t in {{province}} {{city}}, which would be saved for the device.',
    takeFromDistrict: 'Use the district’s province and city',
    coordinatesHint: 'Longitude,latitude in decimal degrees.',
    looksSwapped: 'Did you mean {{pair}}?',
    advice10006:
      'The application is offline, so you can’t create devices. Bring it online on its page, then try again.',
    advice10006other:
      'The application is offline, so you can’t create devices. Ask the platform operator to bring it online, then try again.',
    advice20013: 'Check the serial number. If it’s correct, the application that owns it must unbind it first.',
    advice20013finder: 'People with access to all applications can find the device, and transfer or unbind it.',
    advice20017: 'Nothing to do: the device already belongs to this application.',
    advice20014: 'Only serial numbers in the inventory are allowed. Import this one, then try again.',
    advice20014other:
      'Only serial numbers in the inventory are allowed. Ask the platform operator to import this one, then try again.',
    toApplication: 'View application',
    toDevice: 'View device',
    toInventory: 'View inventory',
    toFinder: 'Find serial number',
  },
  {
    defaultCode: '留空则为接口文档的默认值 {{code}}。',
    unknownRegion: '行政区划表中没有此代码，将原样保存，不显示名称。',
    otherProvince: '该区县不属于将要保存的 {{province}} {{city}}。',
    takeFromDistrict: '按区县填写省市',
    coordinatesHint: '经度,纬度（十进制度）。',
    looksSwapped: '是否应为 {{pair}}？',
    advice10006: '应用已下线，不能新增设备。请在应用页面将其上线后重新提交。',
    advice10006other: '应用已下线，不能新增设备。请联系运营方将其上线后重新提交。',
    advice20013: '请核对设备序列号。如无误，需由当前绑定的应用解绑后才能在此注册。',
    advice20013finder: '有权查看所有应用的人员可查找该序列号，并转移或释放。',
    advice20017: '无需操作：该设备已属于本应用。',
    advice20014: '仅接受库存中的设备序列号。请先导入库存，再重新提交。',
    advice20014other: '仅接受库存中的设备序列号。请联系运营方导入库存后重新提交。',
    toApplication: '前往应用',
    toDevice: '前往设备',
    toInventory: '前往库存',
    toFinder: '查找序列号',
  },
)

interface FieldsProps {
  form: FormInstance<Draft>
  /** Whether the device is new. An existing one keeps its serial number. */
  isNew: boolean
}

export function Fields({ form, isNew }: FieldsProps) {
  const devices = useDeviceTexts()
  const labels = useFieldNames()
  const districtCode = Form.useWatch('districtCode', form) ?? ''
  const provinceCode = Form.useWatch('provinceCode', form) ?? ''
  const cityCode = Form.useWatch('cityCode', form) ?? ''

  const checked = (name: FieldName) => ({
    validator: async (_: unknown, value: string | undefined) => {
      const fault = faultsOf({ ...(form.getFieldsValue() as Draft), [name]: value ?? '' })[name]
      if (fault !== undefined) throw new Error(devices(`fault_${fault}`))
    },
  })
  const item = (name: FieldName, input: React.ReactNode, hint?: React.ReactNode) => (
    <Form.Item
      name={name}
      label={labels[name]}
      required={isNeeded(name)}
      rules={[checked(name)]}
      validateTrigger="onBlur"
      extra={hint}
    >
      {input}
    </Form.Item>
  )

  return (
    <>
      <div style={columns}>
        {item('deviceNo', <Input autoComplete="off" className="mono" disabled={!isNew} autoFocus={isNew} />)}
        {item('deviceName', <Input autoComplete="off" />)}
      </div>
      <CoordinatesField form={form}>{item}</CoordinatesField>
      <RegionChoice
        id="device-region"
        codes={{ provinceCode, cityCode, districtCode }}
        onChange={(codes) => {
          form.setFieldsValue(codes)
          void form.validateFields(['districtCode']).catch(() => undefined)
        }}
      />
      <div style={columns}>
        {item('districtCode', <Input autoComplete="off" inputMode="numeric" />, <RegionName code={districtCode} />)}
        {item(
          'provinceCode',
          <Input autoComplete="off" inputMode="numeric" placeholder={defaultProvinceCode} />,
          <DefaultOrName code={provinceCode} byDefault={defaultProvinceCode} />,
        )}
        {item(
          'cityCode',
          <Input autoComplete="off" inputMode="numeric" placeholder={defaultCityCode} />,
          <DefaultOrName code={cityCode} byDefault={defaultCityCode} />,
        )}
      </div>
      <DistrictElsewhere form={form} />
      {item('detailAddress', <Input autoComplete="off" />)}
      {item('tag', <Input.TextArea autoSize={{ minRows: 2, maxRows: 6 }} />)}
    </>
  )
}

const columns = {
  display: 'grid',
  gridTemplateColumns: 'repeat(auto-fit, minmax(min(100%, 220px), 1fr))',
  columnGap: 16,
}

interface CoordinatesFieldProps {
  form: FormInstance<Draft>
  children: (name: FieldName, input: React.ReactNode, hint: React.ReactNode) => React.ReactNode
}

/** Pasted coordinates. If latitude seems to come before longitude, a button swaps them. */
function CoordinatesField({ form, children }: CoordinatesFieldProps) {
  const t = useTexts()
  const devices = useDeviceTexts()
  const turned = swapped(tidyPair(Form.useWatch('coordinates', form) ?? ''))

  function write(value: string): void {
    form.setFieldValue('coordinates', value)
    void form.validateFields(['coordinates']).catch(() => undefined)
  }

  return (
    <>
      {children(
        'coordinates',
        <Input
          autoComplete="off"
          className="mono"
          placeholder="115.899918,28.676493"
          onBlur={({ target }) => write(tidyPair(target.value))}
        />,
        t('coordinatesHint'),
      )}
      <div aria-live="polite">
        {turned !== undefined && (
          <Note
            type="warning"
            words={t('looksSwapped', { pair: turned })}
            action={<Button onClick={() => write(turned)}>{devices('swap')}</Button>}
          />
        )}
      </div>
    </>
  )
}

const isRegionCode = (code: string) => /^\d{6}$/.test(code)

function useRegion(code: string) {
  return useRead(getRegion, { code }, { enabled: isRegionCode(code) })
}

/** The name of a code's division. */
function RegionName({ code }: { code: string }) {
  const t = useTexts()
  const { data, error } = useRegion(code)
  if (!isRegionCode(code)) return null
  if (error?.code === 10040) return t('unknownRegion')
  return data?.fullName ?? ''
}

function DefaultOrName({ code, byDefault }: { code: string; byDefault: string }) {
  const t = useTexts()
  return code === '' ? t('defaultCode', { code: byDefault }) : <RegionName code={code} />
}

/**
 * A warning: the defaults for province and city apply even if the district is in another province, which is rarely
 * intended.
 */
function DistrictElsewhere({ form }: { form: FormInstance<Draft> }) {
  const t = useTexts()
  const district = (Form.useWatch('districtCode', form) ?? '').trim()
  const province = Form.useWatch('provinceCode', form) || defaultProvinceCode
  const city = Form.useWatch('cityCode', form) || defaultCityCode
  const districtRegion = useRegion(district)
  const own = { provinceCode: `${district.slice(0, 2)}0000`, cityCode: districtRegion.data?.parentCode ?? '' }
  const isElsewhere = districtRegion.data?.level === 3 && (province !== own.provinceCode || city !== own.cityCode)
  const names = [useRegion(province).data?.name ?? province, useRegion(city).data?.name ?? city]
  return (
    <div aria-live="polite">
      {isElsewhere && (
        <Note
          type="warning"
          words={t('otherProvince', { province: names[0] ?? '', city: names[1] ?? '' })}
          action={<Button onClick={() => form.setFieldsValue(own)}>{t('takeFromDistrict')}</Button>}
        />
      )}
    </div>
  )
}

interface AdviceProps {
  code: number
  appId: string
  deviceNo: string
}

/** Advice about the refusal of a device, with a link. */
export function Advice({ code, appId, deviceNo }: AdviceProps) {
  const t = useTexts()
  const advice = useAdvice(code)
  const seesAll = useSeesAll()
  const ways: Record<number, React.ReactNode> = {
    10006: <Link to={paths.application(appId)}>{t('toApplication')}</Link>,
    20013: seesAll && <Link to={paths.devices({ appId, find: deviceNo })}>{t('toFinder')}</Link>,
    20014: advice.isAble && <Link to={paths.models({ tab: 'inventory' })}>{t('toInventory')}</Link>,
    20017: <Link to={paths.device(appId, deviceNo)}>{t('toDevice')}</Link>,
  }
  if (advice.words === undefined) return null
  return <Note type="info" words={advice.words} action={ways[code]} />
}

/** Advice about a refusal, as far as the user's role permits. */
export function useAdvice(code: number): { words: string | undefined; isAble: boolean } {
  const t = useTexts()
  const may = useMay()
  const seesAll = useSeesAll()
  const canImport = may(importDeviceInventory)
  const words: Record<number, string> = {
    10006: may(takeApplicationOnline) ? t('advice10006') : t('advice10006other'),
    20013: seesAll ? `${t('advice20013')} ${t('advice20013finder')}` : t('advice20013'),
    20014: canImport ? t('advice20014') : t('advice20014other'),
    20017: t('advice20017'),
  }
  return { words: words[code], isAble: canImport }
}

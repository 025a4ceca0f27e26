import { Form } from 'antd'
import { lengths } from '../../../src/vocabulary/values.ts'
import { LimitedInput } from '../ui/form/limited.tsx'
import { useTexts } from './texts.ts'

/** The name of an account or a key; of an account, one signs in with it. */
export function NameField({ isOfAccount = false }: { isOfAccount?: boolean }) {
  const t = useTexts()
  return (
    <Form.Item
      name="name"
      label={t('name')}
      extra={isOfAccount && t('nameSignsIn')}
      rules={[{ required: true, whitespace: true, message: t('required') }]}
    >
      <LimitedInput most={lengths.name} autoComplete="off" />
    </Form.Item>
  )
}

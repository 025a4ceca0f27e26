import { Form, Input } from 'antd'
import { lengths } from '../../../src/vocabulary/values.ts'
import { useCommon } from '../ui/texts.ts'
import { useTexts } from './texts.ts'

/** The name of an account or a key. */
export function NameField() {
  const t = useTexts()
  const common = useCommon()
  return (
    <Form.Item
      name="name"
      label={t('name')}
      rules={[{ required: true, whitespace: true, message: common('required') }]}
    >
      <Input maxLength={lengths.name} autoComplete="off" />
    </Form.Item>
  )
}

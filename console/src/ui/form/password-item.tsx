import { Form, Input } from 'antd'
import { passwordLengths } from '../../../../src/people/operators/contract.ts'
import { useCommon } from '../../language/index.ts'

interface PasswordItemProps {
  name: string
  label: string
  autoComplete: 'current-password' | 'new-password' | 'off'
  autoFocus?: boolean
}

/** A password of a form, or another secret that is typed; a new password has a length to keep to. */
export function PasswordItem({ name, label, ...input }: PasswordItemProps) {
  const t = useCommon()
  const length = { ...passwordLengths, message: t('passwordLength', passwordLengths) }
  const rules = [{ required: true, message: t('required') }, ...(input.autoComplete === 'new-password' ? [length] : [])]
  return (
    <Form.Item name={name} label={label} rules={rules}>
      <Input.Password {...input} />
    </Form.Item>
  )
}

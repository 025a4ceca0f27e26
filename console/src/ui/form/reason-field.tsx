import { Form } from 'antd'
import { lengths } from '../../../../src/vocabulary/values.ts'
import { useCommon } from '../../language/index.ts'
import { LimitedTextArea } from './limited.tsx'

interface ReasonFieldProps {
  id: string
  value: string
  onChange: (reason: string) => void
  isRequired: boolean
}

/** Asks for the reason of an action, which the audit log keeps. */
export function ReasonField({ id, value, onChange, isRequired }: ReasonFieldProps) {
  const t = useCommon()
  return (
    <Form.Item
      label={t('reason')}
      required={isRequired}
      extra={t(isRequired ? 'reasonNeeded' : 'reasonKept')}
      htmlFor={id}
    >
      <LimitedTextArea
        id={id}
        most={lengths.reason}
        autoSize={{ minRows: 2 }}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </Form.Item>
  )
}

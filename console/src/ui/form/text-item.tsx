import { Form, type FormItemProps, type InputProps } from 'antd'
import { useId } from 'react'
import { useCommon } from '../../language/index.ts'
import { LimitedInput } from './limited.tsx'

interface TextItemProps extends Omit<InputProps, 'name' | 'onChange'>, Pick<FormItemProps, 'name' | 'label' | 'extra'> {
  /** The most characters that the service takes. */
  most: number
  /** Whether it may not be empty, nor white space alone. */
  isNeeded?: boolean
  /** Takes the text of a field that no form holds. */
  onChange?: (text: string) => void
  itemClass?: string
}

/** A line of text to enter: a field of the form by its name, or without a name one with a value of its own. */
export function TextItem({ name, label, extra, isNeeded = false, itemClass, onChange, ...input }: TextItemProps) {
  const t = useCommon()
  const id = useId()
  const item = { label, extra, className: itemClass }
  if (name === undefined) {
    return (
      <Form.Item {...item} htmlFor={id} required={isNeeded}>
        <LimitedInput id={id} autoComplete="off" {...input} onChange={({ target }) => onChange?.(target.value)} />
      </Form.Item>
    )
  }
  const rules = isNeeded ? [{ required: true, whitespace: true, message: t('required') }] : []
  return (
    <Form.Item {...item} name={name} rules={rules}>
      <LimitedInput autoComplete="off" {...input} />
    </Form.Item>
  )
}

import { Input, type InputProps } from 'antd'
import type { TextAreaProps } from 'antd/es/input'
import { useId } from 'react'
import { defineTexts } from '../../language/index.ts'

const useTexts = defineTexts({
  tooLong: [
    '{{count}} of at most {{most}} characters. Shorten the text.',
    '{{count}} 个字符，最多 {{most}} 个，请缩短。',
  ],
})

// `maxLength` would count a rare character or an emoji twice, and cut a longer text that is pasted without a word.

interface Limited {
  /** The most characters that the service takes. */
  most: number
}

/** A field that says when its text is longer than the service takes. */
export function LimitedInput({ most, ...props }: InputProps & Limited) {
  const { notice, marks } = useLimit(props.value, most)
  return (
    <>
      <Input {...props} {...marks} />
      {notice}
    </>
  )
}

/** As `LimitedInput`, with several lines. */
export function LimitedTextArea({ most, ...props }: TextAreaProps & Limited) {
  const { notice, marks } = useLimit(props.value, most)
  return (
    <>
      <Input.TextArea {...props} {...marks} />
      {notice}
    </>
  )
}

function useLimit(value: unknown, most: number) {
  const t = useTexts()
  const id = useId()
  const count = [...String(value ?? '')].length
  if (count <= most) return { notice: null, marks: {} }
  const notice = (
    <div id={id} role="alert" className="too-long">
      {t('tooLong', { count, most })}
    </div>
  )
  return { notice, marks: { status: 'error', 'aria-invalid': true, 'aria-describedby': id } as const }
}

import { Form, Input } from 'antd'
import { useState } from 'react'
import { isComposing } from '../browser/composing.ts'
import { plainCode } from '../browser/typed.ts'
import { Button } from '../ui/page/button.tsx'
import { useTexts } from './texts.ts'

/**
 * The form field `code`. It takes a code of the generator, or a recovery code when the generator is lost; without a generator
 * a recovery code alone.
 */
export function CodeField({ isOfGenerator = true }: { isOfGenerator?: boolean }) {
  const t = useTexts()
  const form = Form.useFormInstance()
  const [kind, setKind] = useState<'code' | 'recoveryCode'>(isOfGenerator ? 'code' : 'recoveryCode')
  const other = kind === 'code' ? 'recoveryCode' : 'code'
  return (
    <>
      <Form.Item
        key={kind}
        name="code"
        label={t(kind)}
        extra={t(`${kind}Help`)}
        // While a word is being composed, the input method owns the text.
        normalize={(code: string) => (isComposing() ? code : plainCode(code))}
        rules={[{ required: true, message: t('required') }]}
      >
        <Input
          autoFocus
          autoComplete={kind === 'code' ? 'one-time-code' : 'off'}
          inputMode={kind === 'code' ? 'numeric' : 'text'}
          spellCheck={false}
          className="mono"
        />
      </Form.Item>
      {isOfGenerator && (
        <Button
          type="link"
          className="bare spaced"
          onClick={() => {
            form.resetFields(['code'])
            setKind(other)
          }}
        >
          {t(other === 'code' ? 'useCode' : 'useRecoveryCode')}
        </Button>
      )}
    </>
  )
}

import { Alert } from 'antd'
import { refusals } from '../../../src/vocabulary/refusals.ts'
import { useLanguage } from '../language/index.ts'
import { useCommon } from '../ui/texts.ts'

/** Shows a refusal of which only the code is known: its sentence, and what to do. */
export function RefusalWords({ code, requestId }: { code: number; requestId: string }) {
  const t = useCommon()
  const language = useLanguage()
  // Anybody can write an address, so a code that no refusal has is shown without a sentence.
  const kind = Object.values(refusals).find((known) => known.code === code) ?? refusals.signOnFailed
  const details = [
    t('code', { code: kind.code }),
    ...(/^[\w-]{1,128}$/.test(requestId) ? [t('requestId', { id: requestId })] : []),
  ]
  return (
    <Alert
      type="error"
      showIcon
      role="alert"
      style={{ marginBottom: 16 }}
      title={kind[language]}
      description={
        <>
          <p style={{ margin: '0 0 4px' }}>{kind.todo[language].replaceAll('`', '')}</p>
          <span className="faint">{details.join(' · ')}</span>
        </>
      }
    />
  )
}

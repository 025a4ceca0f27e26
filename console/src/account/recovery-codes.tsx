import { getSettings } from '../../../src/people/sessions/contract.ts'
import { useRead, useSession } from '../api/api.ts'
import { serviceNow } from '../api/clock.ts'
import { saveFile } from '../browser/saving.ts'
import { Dialog } from '../ui/dialog/dialog.tsx'
import { Button } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { useCopy } from '../ui/text/copy.tsx'
import { useTexts } from './texts.ts'

interface RecoveryCodesProps {
  /** The codes; the dialog is closed without any. */
  codes: readonly string[] | null | undefined
  onClose: () => void
}

/** Shows new recovery codes once, to copy, print and download. Only its own button closes it, so that no stray click loses them. */
export function RecoveryCodes({ codes, onClose }: RecoveryCodesProps) {
  const t = useTexts()
  const copy = useCopy()
  const { name } = useSession()
  const { data: settings } = useRead(getSettings, {}, { enabled: codes != null })
  const timeZone = settings?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
  // As the service writes moments everywhere else; a file does not tell its zone by itself.
  const made = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(
    serviceNow(),
  )
  const time = `${made} (${timeZone})`
  const about = t('codesOf', { name, place: location.host, time })
  const text = `${about}\n\n${(codes ?? []).join('\n')}\n`
  return (
    <Dialog
      isOpen={codes !== null && codes !== undefined}
      className="recovery"
      title={t('codesTitle')}
      footer={
        <Button type="primary" onClick={onClose}>
          {t('iKeptThem')}
        </Button>
      }
    >
      <Note type="warning" words={t('codesWords')} />
      <p className="flush-above spaced-little">{about}</p>
      <ul className="recovery-codes mono">
        {codes?.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className="buttons">
        <Button onClick={() => void copy(text)}>{t('copy')}</Button>
        <Button onClick={() => print()}>{t('print')}</Button>
        <Button
          onClick={() =>
            saveFile('forecourt-recovery-codes.txt', new Blob([text], { type: 'text/plain;charset=utf-8' }))
          }
        >
          {t('download')}
        </Button>
      </div>
    </Dialog>
  )
}

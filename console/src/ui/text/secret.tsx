import { CheckOutlined, CopyOutlined } from '@ant-design/icons'
import { useEffect, useState } from 'react'
import { useCommon } from '../../language/index.ts'
import { Dialog } from '../dialog/dialog.tsx'
import { Button } from '../page/button.tsx'
import { Note } from '../page/note.tsx'
import { useCopy } from './copy.tsx'

interface SecretProps {
  title: string
  /** The secrets by name, null for one that was lost; while undefined, the dialog is closed. */
  secrets: Record<string, string | null> | undefined
  onClose: () => void
}

/** Shows secrets once, each with a copy button. Only its own button closes it, so that no stray click loses them. */
export function SecretOnce({ title, secrets, onClose }: SecretProps) {
  const t = useCommon()
  return (
    <Dialog
      isOpen={secrets !== undefined}
      title={title}
      footer={
        <Button type="primary" onClick={onClose}>
          {t('iKeptIt')}
        </Button>
      }
    >
      <Note type="warning" words={t('shownOnce')} />
      {Object.entries(secrets ?? {}).map(([name, secret]) => (
        <div key={name} className="spaced">
          <div className="faint">{name}</div>
          {secret === null ? <Note type="error" words={t('secretLost')} /> : <Copyable text={secret} />}
        </div>
      ))}
    </Dialog>
  )
}

/** Text with a copy button. */
export function Copyable({ text }: { text: string }) {
  const t = useCommon()
  const copy = useCopy()
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    const timer = isCopied ? setTimeout(() => setCopied(false), 3_000) : undefined
    return () => clearTimeout(timer)
  }, [isCopied])
  const words = isCopied ? t('copied') : t('copy')
  return (
    <span className="mono copyable">
      {text}{' '}
      <Button
        type="link"
        size="small"
        icon={isCopied ? <CheckOutlined /> : <CopyOutlined />}
        aria-label={words}
        title={words}
        onClick={async () => setCopied(await copy(text))}
      />
    </span>
  )
}

import { Alert, Modal, Typography } from 'antd'
import { useCommon } from './texts.ts'

interface SecretProps {
  title: string
  /** What is shown once, by what it is called, or null for what was lost; nothing is open while it is undefined. */
  secrets: Record<string, string | null> | undefined
  onClose: () => void
}

/** Shows secrets once, each to be copied; it closes by its button only, so that no slip of the hand loses them. */
export function SecretOnce({ title, secrets, onClose }: SecretProps) {
  const t = useCommon()
  return (
    <Modal
      open={secrets !== undefined}
      title={title}
      closable={false}
      mask={{ closable: false }}
      keyboard={false}
      okText={t('iKeptIt')}
      onOk={onClose}
      cancelButtonProps={{ style: { display: 'none' } }}
    >
      <Alert type="warning" showIcon title={t('shownOnce')} style={{ marginBottom: 12 }} />
      {Object.entries(secrets ?? {}).map(([name, secret]) => (
        <div key={name} style={{ marginBottom: 12 }}>
          <div className="faint">{name}</div>
          {secret === null ? <Alert type="error" showIcon title={t('secretLost')} /> : <Copyable text={secret} />}
        </div>
      ))}
    </Modal>
  )
}

/** Text that one may want to take along, with a button that does. */
export function Copyable({ text }: { text: string }) {
  const t = useCommon()
  return (
    <Typography.Text className="mono" copyable={{ text, tooltips: [t('copy'), t('copied')] }}>
      {text}
    </Typography.Text>
  )
}

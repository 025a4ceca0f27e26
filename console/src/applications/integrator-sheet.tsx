import { language } from '../language/index.ts'
import { Note } from '../ui/page/note.tsx'
import { useCopy } from '../ui/text/copy.tsx'
import { Copyable } from '../ui/text/secret.tsx'
import { TextBlock } from '../ui/text/text-block.tsx'
import './integrator-sheet.css'
import { Dialog } from '../ui/dialog/dialog.tsx'
import { Button } from '../ui/page/button.tsx'
import { useTexts } from './texts.ts'

/** A new application, with its secrets; null for secrets that an earlier attempt created, whose response was lost. */
interface NewApplication {
  appId: string
  appName: string
  appSecret: string | null
  thirdPartyConfig: { callbackSecret: string | null; callbackUrl: string | null } | null
}

interface SheetProps {
  made: NewApplication | undefined
  onClose: () => void
}

/** All that an integrator needs, to be sent to them: shown once, because of the secrets. */
export function IntegratorSheet({ made, onClose }: SheetProps) {
  const t = useTexts()
  const copy = useCopy()
  const facts = made === undefined ? [] : factsOf(made, t)
  const commands = made && firstCommands({ ...made, url: location.origin, secret: made.appSecret ?? '…' })
  const text = [
    ...facts.map(([, name, value]) => `${name}: ${value ?? ''}`),
    '',
    t('firstCommands'),
    '',
    commands ?? '',
  ]
  return (
    <Dialog
      isOpen={made !== undefined}
      className="integrator-sheet"
      title={t('sheetTitle', { name: made?.appName ?? '' })}
      width={820}
      footer={
        <>
          <Button onClick={() => void copy(text.join('\n'))}>{t('copyAll')}</Button>
          <Button onClick={() => print()}>{t('print')}</Button>
          <Button type="primary" onClick={onClose}>
            {t('iKeptIt')}
          </Button>
        </>
      }
    >
      <Note type="warning" words={t('shownOnce')} />
      <p>{t('sheetWords')}</p>
      <dl>
        {facts.map(([key, name, value]) => (
          <div key={key}>
            <dt className="faint">{name}</dt>
            <dd data-testid={`sheet-${key}`}>
              {value === null ? <Note type="error" words={t('secretLost')} /> : <Copyable text={value} />}
            </dd>
          </div>
        ))}
      </dl>
      <h2 className="small-heading">{t('firstCommands')}</h2>
      <TextBlock text={commands ?? ''} />
    </Dialog>
  )
}

function factsOf(
  { appId, appSecret, thirdPartyConfig }: NewApplication,
  t: ReturnType<typeof useTexts>,
): [key: string, name: string, value: string | null][] {
  const callback = thirdPartyConfig?.callbackUrl != null ? thirdPartyConfig : undefined
  return [
    ['address', t('serviceAddress'), location.origin],
    ['appId', t('appId'), appId],
    ['appSecret', t('appSecret'), appSecret],
    ...(callback === undefined
      ? []
      : [['callbackSecret', t('callbackSecret'), callback.callbackSecret] as [string, string, string | null]]),
    ['guide', t('guide'), `${location.origin}/docs/${language()}/quick-start`],
  ]
}

interface CommandWords {
  url: string
  appId: string
  secret: string
}

/**
 * The first three commands of an integrator, ready to paste into a shell: get a token, read one's own application, and
 * create a first device.
 */
function firstCommands({ url, appId, secret }: CommandWords): string {
  const device = {
    appId,
    deviceNo: `GATE-${appId}`,
    deviceName: 'East gate barrier',
    provinceCode: '360000',
    cityCode: '360100',
    districtCode: '360102',
    coordinates: '115.899918,28.676493',
  }
  return `TOKEN=$(curl -s '${url}/api/auth/v1/oauth/token' \\
  -d grant_type=client_credentials -d client_id='${appId}' -d client_secret='${secret}' \\
  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

curl -s -w '\\n' '${url}/api/platform/v1/application/detail' -H "Authorization: Bearer $TOKEN"

curl -s -w '\\n' '${url}/api/device/entrance/guard/create' \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(device)}'
`
}

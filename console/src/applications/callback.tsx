import { type ReactNode, useState } from 'react'
import type { Static } from 'typebox'
import type { ApplicationRecord } from '../../../src/applications/contract.ts'
import {
  getThirdPartyConfig,
  rotateCallbackSecret,
  saveThirdPartyConfig,
  type ThirdPartyConfigRecord,
} from '../../../src/applications/third-party-config/contract.ts'
import { testDelivery } from '../../../src/deliveries/contract.ts'
import { eventTypes } from '../../../src/vocabulary/event-types.ts'
import { useMay, useRead, useWrite } from '../api/api.ts'
import { CallbackHealthCard } from '../deliveries/callback-health.tsx'
import { DeliveryState } from '../deliveries/state.tsx'
import { useCommon } from '../language/index.ts'
import { ConfirmButton } from '../ui/dialog/confirm.tsx'
import { FormDrawer, RecordForm, useEdited } from '../ui/form/record-form.tsx'
import { Button } from '../ui/page/button.tsx'
import { Note } from '../ui/page/note.tsx'
import { Nothing } from '../ui/page/nothing.tsx'
import { Card } from '../ui/page/page.tsx'
import { Unread } from '../ui/page/refusal.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { Facts } from '../ui/text/facts.tsx'
import { inMilliseconds } from '../ui/text/number.ts'
import { SecretOnce } from '../ui/text/secret.tsx'
import { TextBlock } from '../ui/text/text-block.tsx'
import { useTypeWords } from '../words/type-words.ts'
import { useAttemptWords } from '../words/use-attempt-words.ts'
import { ConfigFields, configBody, configValues, useFieldNames, withoutQuery } from './fields.tsx'
import { useTexts } from './texts.ts'

/** The third-party configuration, which also holds the address of the application's callback. */
export function CallbackTab({ application: { appId, appName } }: { application: ApplicationRecord }) {
  const t = useTexts()
  const may = useMay()
  const { data, error, refetch } = useRead(getThirdPartyConfig, { appId }, { live: appId })
  const [isEditing, setEditing] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const isMissing = error?.code === 30003
  if (!isMissing && data === undefined) {
    return <Unread error={error} refetch={refetch} />
  }

  function take(saved: ThirdPartyConfigRecord): void {
    setEditing(false)
    setSecret(saved.callbackSecret)
  }

  return (
    <>
      {isMissing || data === undefined ? (
        <section className="card">
          <Nothing words={t('configMissing')}>
            {may(saveThirdPartyConfig) && (
              <Button type="primary" onClick={() => setEditing(true)}>
                {t('configMake')}
              </Button>
            )}
          </Nothing>
        </section>
      ) : (
        <>
          {data.callbackUrl !== null && <CallbackHealthCard appId={appId} />}
          <Config config={data} name={appName} onEdit={() => setEditing(true)} onSecret={setSecret} />
          {may(testDelivery) && <Test appId={appId} hasUrl={data.callbackUrl !== null} />}
        </>
      )}
      <FormDrawer isOpen={isEditing} onClose={() => setEditing(false)} title={t('configTitle', { name: appName })}>
        <ConfigEditor appId={appId} isNew={isMissing} onSaved={take} onClose={() => setEditing(false)} />
      </FormDrawer>
      <SecretOnce
        title={t('callbackSecretTitle', { name: appName })}
        secrets={secret === null ? undefined : { [t('callbackSecret')]: secret }}
        onClose={() => setSecret(null)}
      />
    </>
  )
}

interface ConfigProps {
  config: ThirdPartyConfigRecord
  name: string
  onEdit: () => void
  onSecret: (secret: string | null) => void
}

function Config({ config, name, onEdit, onSecret }: ConfigProps) {
  const t = useTexts()
  const may = useMay()
  const rotate = useWrite(rotateCallbackSecret)
  const attemptWords = useAttemptWords()
  const { appId, callbackStopTime, callbackStopReason } = config
  return (
    <section className="card">
      <div className="page-head">
        <h2 className="flush">{t('config')}</h2>
        <span className="spacer" />
        {may(saveThirdPartyConfig) && <Button onClick={onEdit}>{t('edit')}</Button>}
        {may(rotateCallbackSecret) && (
          <ConfirmButton
            title={t('rotateCallbackTitle', { name })}
            verb={t('rotateCallback')}
            isDangerous
            run={async () => onSecret((await rotate.mutateAsync({ input: { appId } })).callbackSecret)}
          >
            <p>{t('rotateCallbackText')}</p>
          </ConfirmButton>
        )}
      </div>
      {callbackStopTime !== null && (
        <Note type="error" words={t('stoppedTitle', { time: callbackStopTime })}>
          {callbackStopReason !== null && <div>{t('stopReason', { reason: attemptWords(callbackStopReason) })}</div>}
          {t('stoppedText')}
        </Note>
      )}
      <Facts isFramed facts={useConfigFacts(config)} />
    </section>
  )
}

function useConfigFacts(config: ThirdPartyConfigRecord): Record<string, ReactNode> {
  const t = useTexts()
  const typeWords = useTypeWords()
  const none = <span className="faint">{t('notGiven')}</span>
  const { operatorName, operatorId, callbackUrl, callbackEvents, updateTime } = config
  return {
    [t('operatorName')]: operatorName,
    [t('operatorId')]: operatorId ?? none,
    [t('callbackUrl')]: callbackUrl === null ? none : <CallbackUrl url={callbackUrl} />,
    [t('callbackEvents')]:
      callbackEvents.length === eventTypes.length
        ? t('allEvents')
        : callbackEvents.map((type) => typeWords(type)).join(t('comma')),
    [t('callbackSecret')]: <span className="faint">{t('callbackSecretHint')}</span>,
    [t('updateTime')]: <span className="number">{updateTime}</span>,
  }
}

/** The address, with its query only where that is asked for: it can hold a key. */
function CallbackUrl({ url }: { url: string }) {
  const t = useTexts()
  const [isWhole, setWhole] = useState(false)
  const hidden = withoutQuery(url)
  return (
    <>
      <span className="mono">{isWhole ? url : hidden}</span>
      {!isWhole && hidden !== url && (
        <Button type="link" size="small" onClick={() => setWhole(true)}>
          {t('showQuery')}
        </Button>
      )}
    </>
  )
}

/** Sends one test event, and shows the result. */
function Test({ appId, hasUrl }: { appId: string; hasUrl: boolean }) {
  const t = useTexts()
  const test = useWrite(testDelivery)
  return (
    <Card title={t('test')}>
      <p className="faint">{hasUrl ? t('testText') : t('testNeedsUrl')}</p>
      <RefusalAlert error={test.error} />
      <Button disabled={!hasUrl} loading={test.isPending} onClick={() => test.mutate({ input: { appId } })}>
        {t('testSend')}
      </Button>
      <div aria-live="polite" style={{ marginTop: test.data === undefined ? 0 : 16 }}>
        {test.data !== undefined && <Outcome delivery={test.data} />}
      </div>
    </Card>
  )
}

function Outcome({ delivery }: { delivery: Static<typeof testDelivery.data> }) {
  const t = useTexts()
  const words = useAttemptWords()
  const { status, responseStatus, error, durationMs, response, createTime } = delivery
  const isTaken = status === 2
  return (
    <>
      <Note type={isTaken ? 'success' : 'error'} role="status" words={isTaken ? t('testDelivered') : t('testFailed')} />
      <Facts
        isFramed
        facts={{
          [t('status')]: <DeliveryState status={status} />,
          [t('responseStatus')]: responseStatus ?? t('noResponse'),
          ...(error !== null && { [t('error')]: words(error) }),
          [t('duration')]: inMilliseconds(durationMs ?? 0),
          [t('sentAt')]: createTime,
          ...(responseStatus !== null && { [t('response')]: <AnswerText text={response} /> }),
        }}
      />
    </>
  )
}

function AnswerText({ text }: { text: string | null }) {
  const t = useTexts()
  if (text === null || text === '') return <span className="faint">{t('emptyResponse')}</span>
  return <TextBlock text={text} />
}

interface EditorProps {
  appId: string
  /** The application has no configuration yet. */
  isNew: boolean
  onSaved: (saved: ThirdPartyConfigRecord) => void
  onClose: () => void
}

/** The form to create or change a third-party configuration. */
function ConfigEditor({ appId, isNew: isMissing, onSaved, onClose }: EditorProps) {
  const t = useCommon()
  const fieldNames = useFieldNames()
  // Kept from when the form was opened: the first save changes `isMissing`, which must not replace the form meanwhile.
  const [isNew] = useState(isMissing)
  const { edited, instead } = useEdited(getThirdPartyConfig, { appId }, { enabled: !isNew })
  const save = useWrite(saveThirdPartyConfig)
  if (!isNew && edited === undefined) return instead
  return (
    <RecordForm
      edited={edited}
      valuesOf={configValues}
      send={({ values, headers }) =>
        save.mutateAsync({ input: { appId, ...configBody(values, edited?.data) }, headers })
      }
      onSaved={onSaved}
      verb={t('save')}
      back={onClose}
      fieldNames={fieldNames}
    >
      <ConfigFields />
    </RecordForm>
  )
}

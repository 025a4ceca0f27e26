import { useState } from 'react'
import {
  deletePasskey,
  deleteTotp,
  getSecondFactors,
  renewRecoveryCodes,
  type SecondFactors,
  startTotp,
} from '../../../src/people/second-factor/contract.ts'
import { getSignOn } from '../../../src/people/sign-on/contract.ts'
import { useRead, useWrite } from '../api/api.ts'
import { ConfirmButton } from '../ui/dialog/confirm.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { Note } from '../ui/page/note.tsx'
import { Card } from '../ui/page/page.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { Rows } from '../ui/table/rows.tsx'
import { State } from '../ui/text/status.tsx'
import type { Begun } from './generator.tsx'
import { knowsPasskeys } from './passkeys.ts'
import { fewCodes } from './recovery.ts'
import { RecoveryCodes } from './recovery-codes.tsx'
import { useTexts } from './texts.ts'
import './account.css'
import { Button } from '../ui/page/button.tsx'
import { part } from '../ui/page/part.tsx'
import { Unread } from '../ui/page/refusal.tsx'

const Generator = part(async () => (await import('./generator.tsx')).Generator)
const AddPasskey = part(async () => (await import('./add-passkey.tsx')).AddPasskey)

interface SecondFactorProps {
  /** Called when the person has kept the recovery codes of a first factor. */
  onFirst: () => void
}

/** The second factors of one's own account. */
export function SecondFactor({ onFirst }: SecondFactorProps) {
  const t = useTexts()
  const { data, error, refetch } = useRead(getSecondFactors, {})
  const [codes, setCodes] = useState<string[] | null>()
  const [isFirst, setFirst] = useState(false)
  const added = (saved: { recoveryCodes: string[] | null }, words: string) => {
    showSuccess(words)
    setFirst(true)
    setCodes(saved.recoveryCodes)
  }
  return (
    <Card title={t('factors')}>
      <p className="faint">
        {t('factorsWords')} {data?.isRequired && t('isRequired')}
      </p>
      {data === undefined ? (
        <Unread error={error} refetch={refetch} />
      ) : (
        <>
          <Passkeys factors={data} onAdded={(saved) => added(saved, t('passkeyAdded'))} />
          <CodeGenerator factors={data} onAdded={(saved) => added(saved, t('generatorOn'))} />
          {countOf(data) > 0 && <Recovery left={data.recoveryCodesLeft} onRenewed={setCodes} />}
        </>
      )}
      <RecoveryCodes
        codes={codes}
        onClose={() => {
          setCodes(undefined)
          if (isFirst) onFirst()
        }}
      />
    </Card>
  )
}

const countOf = ({ passkeys, totp }: SecondFactors) => passkeys.length + (totp === null ? 0 : 1)

interface FactorProps {
  factors: SecondFactors
  onAdded: (saved: { recoveryCodes: string[] | null }) => void
}

function Passkeys({ factors, onAdded }: FactorProps) {
  const t = useTexts()
  const { data: offer } = useRead(getSignOn, {})
  const remove = useWrite(deletePasskey)
  const [isAdding, setAdding] = useState(false)
  const { passkeys } = factors
  return (
    <div className="factor">
      <h3>{t('passkeys')}</h3>
      {passkeys.length === 0 ? (
        <p>{t('noPasskeys')}</p>
      ) : (
        <Rows
          label={t('passkeys')}
          isSmall
          rows={passkeys}
          rowKey={({ id }) => id}
          empty={null}
          columns={[
            { key: 'name', title: t('name'), most: 240 },
            { key: 'createTime', title: t('added'), className: 'number' },
            {
              key: 'lastUse',
              title: t('lastUse'),
              className: 'number',
              render: ({ lastUseTime }) => lastUseTime ?? <span className="faint">{t('never')}</span>,
            },
            { key: 'kept', title: t('kept'), render: ({ isSynced }) => t(isSynced ? 'synced' : 'single') },
            {
              key: 'actions',
              title: t('actions'),
              render: (passkey) => (
                <ConfirmButton
                  button={{ size: 'small', 'aria-label': t('removeOf', { name: passkey.name }) }}
                  title={t('removePasskeyTitle', { name: passkey.name })}
                  verb={t('remove')}
                  isDangerous
                  run={() => remove.mutateAsync({ input: { id: passkey.id } })}
                  done={t('removed')}
                >
                  <p>{t('removePasskeyWords')}</p>
                  {countOf(factors) === 1 && <p>{t('removeLastWords')}</p>}
                </ConfirmButton>
              ),
            },
          ]}
        />
      )}
      {offer?.passkeys === true && knowsPasskeys() && (
        <Button className="spaced-little-above" onClick={() => setAdding(true)}>
          {t('addPasskey')}
        </Button>
      )}
      {offer?.passkeys === true && !knowsPasskeys() && (
        <p className="faint">{t('passkeyNotHere', { host: location.host })}</p>
      )}
      {offer?.passkeys === false && <p className="faint">{t('noPasskeysHere')}</p>}
      {isAdding && (
        <AddPasskey
          onClose={() => setAdding(false)}
          onSaved={(saved) => {
            setAdding(false)
            onAdded(saved)
          }}
        />
      )}
    </div>
  )
}

function CodeGenerator({ factors, onAdded }: FactorProps) {
  const t = useTexts()
  const { totp } = factors
  const start = useWrite(startTotp)
  const remove = useWrite(deleteTotp)
  const [begun, setBegun] = useState<Begun>()
  const begin = () => start.mutate({ input: {} }, { onSuccess: setBegun })
  return (
    <div className="factor">
      <h3>{t('generator')}</h3>
      {totp === null ? (
        <p>{t('noGenerator')}</p>
      ) : (
        <p>
          {totp.lastUseTime === null
            ? t('generatorNever', { time: totp.createTime })
            : t('generatorSince', { time: totp.createTime, use: totp.lastUseTime })}
        </p>
      )}
      <RefusalAlert error={start.error} />
      <div className="buttons">
        <Button loading={start.isPending} onClick={begin}>
          {t(totp === null ? 'setUpGenerator' : 'replaceGenerator')}
        </Button>
        {totp !== null && (
          <ConfirmButton
            button={{ children: t('removeGenerator') }}
            title={t('removeGeneratorTitle')}
            verb={t('remove')}
            isDangerous
            run={() => remove.mutateAsync({ input: {} })}
            done={t('removed')}
          >
            <p>{t('removeGeneratorWords')}</p>
            {countOf(factors) === 1 && <p>{t('removeLastWords')}</p>}
          </ConfirmButton>
        )}
      </div>
      {begun !== undefined && (
        <Generator
          begun={begun}
          onClose={() => setBegun(undefined)}
          onSaved={(saved) => {
            setBegun(undefined)
            onAdded(saved)
          }}
        />
      )}
    </div>
  )
}

function Recovery({ left, onRenewed }: { left: number; onRenewed: (codes: string[] | null) => void }) {
  const t = useTexts()
  const renew = useWrite(renewRecoveryCodes)
  return (
    <div className="factor">
      <h3>{t('recovery')}</h3>
      {left <= fewCodes && <Note type="warning" words={t('fewLeft', { count: left })} />}
      <p>
        {t('recoveryWords')}{' '}
        <State tone={left <= fewCodes ? 'warn' : 'good'}>{t('recoveryLeft', { count: left })}</State>
      </p>
      <ConfirmButton
        title={t('renewTitle')}
        verb={t('renew')}
        run={async () => onRenewed((await renew.mutateAsync({ input: {} })).recoveryCodes)}
      >
        <p>{t('renewWords')}</p>
      </ConfirmButton>
    </div>
  )
}

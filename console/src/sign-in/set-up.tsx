import { useQueryClient } from '@tanstack/react-query'
import { Form, Input } from 'antd'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { passwordLengths, setUpOperator } from '../../../src/people/operators/contract.ts'
import { getSignOn } from '../../../src/people/sign-on/contract.ts'
import { lengths } from '../../../src/vocabulary/values.ts'
import { CodeField } from '../account/code-field.tsx'
import { asksForCode, ProofFault } from '../account/proof-fault.tsx'
import { afterSessionChange, call, useAttempt, useRead } from '../api/api.ts'
import { paths } from '../paths.ts'
import { PasswordItem } from '../ui/form/password-item.tsx'
import { TextItem } from '../ui/form/text-item.tsx'
import { Button } from '../ui/page/button.tsx'
import { Loading } from '../ui/page/loading.tsx'
import { Note } from '../ui/page/note.tsx'
import { Frame } from './frame.tsx'
import { SignOnButton } from './sign-on-button.tsx'
import { useTexts } from './texts.ts'

interface Entered {
  name?: string
  password: string
  repeat: string
  code?: string
}

/** The page of a one-time set-up link. The token is in the fragment, which reaches no server and no log. */
export function Page() {
  const t = useTexts()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [token] = useState(() => location.hash.slice(1))
  const { attempt, error, setError, isRunning } = useAttempt()
  const [wantsCode, setWantsCode] = useState(false)
  const { data: offer, isPending } = useRead(getSignOn, {}, { enabled: token !== '' })

  if (!wantsCode && asksForCode(error)) setWantsCode(true)
  const setUp = ({ name, password, code }: Entered) =>
    attempt(async () => {
      await call(setUpOperator, { setUpToken: token, password, code, name: name?.trim() || null })
      afterSessionChange(queries)
      await navigate(paths.overview(), { replace: true })
    })

  if (token === '') {
    return (
      <Frame title={t('setUpTitle')}>
        <Note type="error" words={t('noLink')} />
      </Frame>
    )
  }
  if (isPending) {
    return (
      <Frame title={t('setUpTitle')}>
        <Loading />
      </Frame>
    )
  }
  return (
    <Frame title={t('setUpTitle')}>
      {offer?.enabled && (
        <>
          <p className="faint">{t('setUpSignOn')}</p>
          <SignOnButton name={offer.name} start={{ purpose: 'setUp', setUpToken: token }} onRefused={setError} />
          <p className="ways-or">{t(offer.passwords === 'admins' ? 'orSetPasswordOfAdmins' : 'orSetPassword')}</p>
        </>
      )}
      <p className="faint">{t('setUpWords', passwordLengths)}</p>
      <ProofFault error={error} fieldNames={{ name: t('name'), password: t('newPassword') }} />
      <Form<Entered> layout="vertical" requiredMark={false} onFinish={(entered) => void setUp(entered)}>
        <TextItem
          name="name"
          label={t('newName')}
          extra={t('newNameWords')}
          most={lengths.name}
          autoComplete="username"
        />
        <PasswordItem name="password" label={t('newPassword')} autoComplete="new-password" autoFocus />
        <Form.Item
          name="repeat"
          label={t('repeat')}
          dependencies={['password']}
          rules={[
            { required: true, message: t('required') },
            ({ getFieldValue }) => ({
              validator: (_, value) =>
                value === getFieldValue('password') ? Promise.resolve() : Promise.reject(new Error(t('differs'))),
            }),
          ]}
        >
          <Input.Password autoComplete="new-password" />
        </Form.Item>
        {wantsCode && <CodeField />}
        <Button type={offer?.enabled ? 'default' : 'primary'} htmlType="submit" block loading={isRunning}>
          {t('setUp')}
        </Button>
      </Form>
    </Frame>
  )
}

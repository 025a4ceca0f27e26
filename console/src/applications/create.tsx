import { App, Button, Checkbox, Drawer, Form } from 'antd'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { Static } from 'typebox'
import {
  createApplication,
  defaultRateLimitPerSecond,
  defaultTokenLifetimeSeconds,
} from '../../../src/applications/contract.ts'
import type { ForecourtError } from '../../../src/sdk/client.ts'
import { useWrite } from '../api.ts'
import { paths } from '../paths.ts'
import { SecretOnce } from '../ui/secret.tsx'
import { useCommon } from '../ui/texts.ts'
import {
  ApplicationFields,
  type ApplicationValues,
  ConfigFields,
  type ConfigValues,
  configBody,
  useFieldNames,
} from './fields.tsx'
import { FormRefusal, markFaults, useIdempotencyKey } from './form.tsx'
import { useTexts } from './texts.ts'

type Made = Static<typeof createApplication.data>

interface Entered extends ApplicationValues {
  withConfig?: boolean
  thirdPartyConfig?: ConfigValues
}

const initialValues = {
  tokenLifetimeSeconds: defaultTokenLifetimeSeconds,
  rateLimitPerSecond: defaultRateLimitPerSecond,
  withConfig: false,
}

interface Props {
  isOpen: boolean
  onClose: () => void
}

/** Creates an application in a drawer, shows its secrets once, and leads to it. */
export function CreateApplication({ isOpen, onClose }: Props) {
  const t = useTexts()
  const { message, modal } = App.useApp()
  const navigate = useNavigate()
  const [made, setMade] = useState<Made>()

  function take(answer: Made): void {
    onClose()
    void message.success(t('created'))
    if (answer.appSecret !== null) {
      setMade(answer)
      return
    }
    // The answer to a retry: an earlier attempt made it, and its answer with the secret never arrived.
    void modal.warning({
      title: t('lostTitle'),
      content: t('lostText'),
      afterClose: () => void navigate(paths.application(answer.appId)),
    })
  }

  return (
    <>
      <Drawer
        open={isOpen}
        onClose={onClose}
        mask={{ closable: false }}
        title={t('createTitle')}
        size={520}
        destroyOnHidden
      >
        <CreateForm onCreated={take} onClose={onClose} />
      </Drawer>
      <SecretOnce
        title={t('secretsTitle', { name: made?.appName ?? '' })}
        secrets={made && secretsOf(made, t('appSecret'), t('callbackSecret'))}
        onClose={() => void navigate(paths.application(made?.appId ?? ''))}
      />
    </>
  )
}

function secretsOf({ appSecret, thirdPartyConfig }: Made, ofApp: string, ofCallback: string): Record<string, string> {
  const callbackSecret = thirdPartyConfig?.callbackSecret ?? null
  return {
    ...(appSecret === null ? {} : { [ofApp]: appSecret }),
    ...(callbackSecret === null ? {} : { [ofCallback]: callbackSecret }),
  }
}

function CreateForm({ onCreated, onClose }: { onCreated: (made: Made) => void; onClose: () => void }) {
  const t = useTexts()
  const common = useCommon()
  const [form] = Form.useForm<Entered>()
  const hasConfig = Form.useWatch('withConfig', form) === true
  const fieldNames = useFieldNames()
  const key = useIdempotencyKey()
  const create = useWrite(createApplication)

  async function run({ withConfig, thirdPartyConfig, ...members }: Entered): Promise<void> {
    const input = withConfig ? { ...members, thirdPartyConfig: configBody(thirdPartyConfig) } : members
    try {
      onCreated(await create.mutateAsync({ input, headers: key.current() }))
      key.renew()
    } catch (error) {
      if ((error as ForecourtError).code === 10008) key.renew()
      markFaults(form, error)
    }
  }

  return (
    <Form<Entered>
      form={form}
      layout="vertical"
      scrollToFirstError={{ focus: true, block: 'center' }}
      initialValues={initialValues}
      onFinish={(entered) => void run(entered)}
    >
      <ApplicationFields />
      <Form.Item name="withConfig" valuePropName="checked" extra={t('withConfigHint')}>
        <Checkbox>{t('withConfig')}</Checkbox>
      </Form.Item>
      {hasConfig && <ConfigFields under="thirdPartyConfig" />}
      <FormRefusal error={create.error} fieldNames={fieldNames} />
      <div style={{ display: 'flex', gap: 8 }}>
        <Button type="primary" htmlType="submit" loading={create.isPending}>
          {common('create')}
        </Button>
        <Button onClick={onClose}>{common('cancel')}</Button>
      </div>
    </Form>
  )
}

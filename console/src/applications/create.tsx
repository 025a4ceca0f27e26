import { Checkbox, Form } from 'antd'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { Static } from 'typebox'
import { createApplication } from '../../../src/applications/contract.ts'
import { useWrite } from '../api.ts'
import { paths } from '../paths.ts'
import { FormDrawer } from '../ui/form-drawer.tsx'
import { RecordForm } from '../ui/record-form.tsx'
import { SecretOnce } from '../ui/secret.tsx'
import {
  ApplicationFields,
  type ApplicationValues,
  applicationValues,
  ConfigFields,
  type ConfigValues,
  configBody,
  configValues,
  useFieldNames,
} from './fields.tsx'
import { useTexts } from './texts.ts'

type Made = Static<typeof createApplication.data>

interface Entered extends ApplicationValues {
  withConfig: boolean
  thirdPartyConfig: ConfigValues
}

const blank = (): Entered => ({ ...applicationValues(), withConfig: false, thirdPartyConfig: configValues() })

interface Props {
  isOpen: boolean
  onClose: () => void
}

/** Creates an application in a drawer, shows its secrets once, and opens its page. */
export function CreateApplication({ isOpen, onClose }: Props) {
  const t = useTexts()
  const navigate = useNavigate()
  const [made, setMade] = useState<Made>()
  return (
    <>
      <FormDrawer isOpen={isOpen && made === undefined} onClose={onClose} title={t('createTitle')}>
        <CreateForm onCreated={setMade} onClose={onClose} />
      </FormDrawer>
      <SecretOnce
        title={t('secretsTitle', { name: made?.appName ?? '' })}
        secrets={made && secretsOf(made, t('appSecret'), t('callbackSecret'))}
        onClose={() => void navigate(paths.application(made?.appId ?? ''))}
      />
    </>
  )
}

/** The response to a retry has no secrets: an earlier attempt created them, and its response was lost. */
function secretsOf({ appSecret, thirdPartyConfig }: Made, ofApp: string, ofCallback: string) {
  return { [ofApp]: appSecret, ...(thirdPartyConfig && { [ofCallback]: thirdPartyConfig.callbackSecret }) }
}

function CreateForm({ onCreated, onClose }: { onCreated: (made: Made) => void; onClose: () => void }) {
  const t = useTexts()
  const [form] = Form.useForm<Entered>()
  const hasConfig = Form.useWatch('withConfig', form) === true
  const create = useWrite(createApplication)
  return (
    <RecordForm
      form={form}
      valuesOf={blank}
      send={({ values: { withConfig, thirdPartyConfig, ...members }, headers }) => {
        const input = withConfig ? { ...members, thirdPartyConfig: configBody(thirdPartyConfig) } : members
        return create.mutateAsync({ input, headers })
      }}
      successMessage={() => t('created')}
      onSaved={onCreated}
      back={onClose}
      fieldNames={useFieldNames()}
    >
      <ApplicationFields />
      <Form.Item name="withConfig" valuePropName="checked" extra={t('withConfigHint')}>
        <Checkbox>{t('withConfig')}</Checkbox>
      </Form.Item>
      {hasConfig && <ConfigFields under="thirdPartyConfig" />}
    </RecordForm>
  )
}

import { App, Button, Form } from 'antd'
import { useState } from 'react'
import { eventTypes } from '../../../src/events/contract.ts'
import {
  getThirdPartyConfig,
  saveThirdPartyConfig,
  type ThirdPartyConfigRecord,
} from '../../../src/third-party-config/contract.ts'
import { useReadTagged, useWrite } from '../api.ts'
import { Loading } from '../ui/loading.tsx'
import { RefusalResult } from '../ui/refusal.tsx'
import { useCommon } from '../ui/texts.ts'
import { ConfigFields, type ConfigValues, configBody, useFieldNames } from './fields.tsx'
import { markFaults, SaveRefusal, takeNewer } from './form.tsx'

interface Props {
  appId: string
  /** Nothing is there yet, so there is nothing to begin with. */
  isNew: boolean
  onSaved: (saved: ThirdPartyConfigRecord) => void
  onClose: () => void
}

/** The form of a third-party configuration, of one that is there or one that is to be made. */
export function ConfigEditor({ appId, isNew: isMissing, onSaved, onClose }: Props) {
  // As it was when the form was opened: the first save must not take the form away beneath its own answer.
  const [isNew] = useState(isMissing)
  const { data, error, refetch } = useReadTagged(getThirdPartyConfig, { appId }, { enabled: !isNew })
  if (!isNew && data === undefined) return error === null ? <Loading /> : <RefusalResult error={error} />
  const readNewer = async () => (await refetch()).data?.data
  return (
    <ConfigForm
      appId={appId}
      config={data?.data}
      etag={data?.etag ?? null}
      readNewer={readNewer}
      onSaved={onSaved}
      onClose={onClose}
    />
  )
}

interface FormProps extends Omit<Props, 'isNew'> {
  config: ThirdPartyConfigRecord | undefined
  etag: string | null
  readNewer: () => Promise<ThirdPartyConfigRecord | undefined>
}

function valuesOf(config: ThirdPartyConfigRecord | undefined): Partial<ConfigValues> {
  if (config === undefined) return { callbackEvents: [] }
  const { operatorName, operatorId, callbackUrl, callbackEvents } = config
  // All of them are chosen by choosing none.
  const isAll = callbackEvents.length === eventTypes.length
  // A record tells them as plain text.
  const known = callbackEvents.flatMap((event) => eventTypes.find((type) => type === event) ?? [])
  return { operatorName, operatorId, callbackUrl, callbackEvents: isAll ? [] : known }
}

function ConfigForm({ appId, config, etag, readNewer, onSaved, onClose }: FormProps) {
  const common = useCommon()
  const { message } = App.useApp()
  const [form] = Form.useForm<ConfigValues>()
  const fieldNames = useFieldNames()
  const [opened, setOpened] = useState(config)
  const save = useWrite(saveThirdPartyConfig)

  async function run(values: ConfigValues): Promise<void> {
    const headers: Record<string, string> = etag === null ? {} : { 'if-match': etag }
    try {
      const saved = await save.mutateAsync({ input: { appId, ...configBody(values) }, headers })
      void message.success(common('saved'))
      onSaved(saved)
    } catch (error) {
      markFaults(form, error)
    }
  }

  function take(newer: ThirdPartyConfigRecord | undefined): void {
    takeNewer(form, valuesOf(newer))
    setOpened(newer)
    save.reset()
  }

  return (
    <Form<ConfigValues>
      form={form}
      layout="vertical"
      scrollToFirstError={{ focus: true, block: 'center' }}
      initialValues={valuesOf(config)}
      onFinish={(values) => void run(values)}
    >
      <ConfigFields />
      <SaveRefusal
        error={save.error}
        fieldNames={fieldNames}
        opened={opened}
        readNewer={readNewer}
        keepMine={form.submit}
        takeTheirs={take}
      />
      <div style={{ display: 'flex', gap: 8 }}>
        <Button type="primary" htmlType="submit" loading={save.isPending}>
          {common('save')}
        </Button>
        <Button onClick={onClose}>{common('cancel')}</Button>
      </div>
    </Form>
  )
}

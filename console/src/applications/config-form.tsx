import { useState } from 'react'
import {
  getThirdPartyConfig,
  saveThirdPartyConfig,
  type ThirdPartyConfigRecord,
} from '../../../src/applications/third-party-config/contract.ts'
import { useWrite } from '../api.ts'
import { RecordForm, useEdited } from '../ui/record-form.tsx'
import { useCommon } from '../ui/texts.ts'
import { ConfigFields, configBody, configValues, useFieldNames } from './fields.tsx'

interface Props {
  appId: string
  /** Nothing is there yet, so there is nothing to begin with. */
  isNew: boolean
  onSaved: (saved: ThirdPartyConfigRecord) => void
  onClose: () => void
}

/** The form of a third-party configuration, of one that is there or one that is to be made. */
export function ConfigEditor({ appId, isNew: isMissing, onSaved, onClose }: Props) {
  const common = useCommon()
  const fieldNames = useFieldNames()
  // As it was when the form was opened: the first save must not take the form away beneath its own answer.
  const [isNew] = useState(isMissing)
  const { edited, instead } = useEdited(getThirdPartyConfig, { appId }, { enabled: !isNew })
  const save = useWrite(saveThirdPartyConfig)
  if (!isNew && edited === undefined) return instead
  return (
    <RecordForm
      edited={edited}
      valuesOf={configValues}
      send={({ values, headers }) => save.mutateAsync({ input: { appId, ...configBody(values) }, headers })}
      onSaved={onSaved}
      verb={common('save')}
      back={onClose}
      fieldNames={fieldNames}
    >
      <ConfigFields />
    </RecordForm>
  )
}

import { useState } from 'react'
import {
  getThirdPartyConfig,
  saveThirdPartyConfig,
  type ThirdPartyConfigRecord,
} from '../../../src/applications/third-party-config/contract.ts'
import { useWrite } from '../api/api.ts'
import { useCommon } from '../language/index.ts'
import { RecordForm, useEdited } from '../ui/form/record-form.tsx'
import { ConfigFields, configBody, configValues, useFieldNames } from './fields.tsx'

interface Props {
  appId: string
  /** The application has no configuration yet. */
  isNew: boolean
  onSaved: (saved: ThirdPartyConfigRecord) => void
  onClose: () => void
}

/** The form to create or change a third-party configuration. */
export function ConfigEditor({ appId, isNew: isMissing, onSaved, onClose }: Props) {
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

import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { Static } from 'typebox'
import { createApplication } from '../../../src/applications/contract.ts'
import { useWrite } from '../api/api.ts'
import { paths } from '../paths.ts'
import { FormDrawer, RecordForm } from '../ui/form/record-form.tsx'
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
import { IntegratorSheet } from './integrator-sheet.tsx'
import { useTexts } from './texts.ts'

type Made = Static<typeof createApplication.data>

interface Entered extends ApplicationValues {
  thirdPartyConfig: ConfigValues
}

const blank = (): Entered => ({ ...applicationValues(), thirdPartyConfig: configValues() })

interface Props {
  isOpen: boolean
  onClose: () => void
}

/** Creates an application in a drawer, shows once what its integrator needs, and opens its page. */
export function CreateApplication({ isOpen, onClose }: Props) {
  const t = useTexts()
  const navigate = useNavigate()
  const [made, setMade] = useState<Made>()
  return (
    <>
      <FormDrawer isOpen={isOpen && made === undefined} onClose={onClose} title={t('newApplication')}>
        <CreateForm onCreated={setMade} onClose={onClose} />
      </FormDrawer>
      <IntegratorSheet made={made} onClose={() => void navigate(paths.application(made?.appId ?? ''))} />
    </>
  )
}

function CreateForm({ onCreated, onClose }: { onCreated: (made: Made) => void; onClose: () => void }) {
  const t = useTexts()
  const create = useWrite(createApplication)
  return (
    <RecordForm
      valuesOf={blank}
      send={({ values: { thirdPartyConfig, ...members }, headers }) =>
        create.mutateAsync({ input: { ...members, thirdPartyConfig: configBody(thirdPartyConfig) }, headers })
      }
      successMessage={() => t('created')}
      onSaved={onCreated}
      back={onClose}
      fieldNames={useFieldNames()}
    >
      <ApplicationFields />
      <h2 className="small-heading">{t('config')}</h2>
      <p className="faint">{t('configNeeded')}</p>
      <ConfigFields under="thirdPartyConfig" />
    </RecordForm>
  )
}

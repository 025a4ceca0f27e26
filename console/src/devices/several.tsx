import { useState } from 'react'
import { blankDraft, type Draft } from '../imports/row-faults.ts'
import { TableStep } from './table-step.tsx'
import { TextStep } from './text-step.tsx'

/** Registers many devices: first text, then a table that marks faults, then the outcome of each row. */
export function Several({ appId }: { appId: string }) {
  const [text, setText] = useState('')
  const [byDefault, setByDefault] = useState<Draft>({ ...blankDraft, deviceName: '{deviceNo}' })
  const [drafts, setDrafts] = useState<Draft[]>()
  if (drafts === undefined) {
    return (
      <TextStep
        appId={appId}
        text={text}
        setText={setText}
        byDefault={byDefault}
        setByDefault={setByDefault}
        show={setDrafts}
      />
    )
  }
  return (
    <TableStep
      // The outcomes belong to one application; choosing another starts again.
      key={appId}
      appId={appId}
      drafts={drafts}
      back={(refused) => {
        if (refused !== undefined) setText(refused)
        setDrafts(undefined)
      }}
    />
  )
}

import { useState } from 'react'
import { blankDraft, type Draft } from './rows.ts'
import { TableStep } from './table-step.tsx'
import { TextStep } from './text-step.tsx'

/** Registers many devices: text, then a table in which faults are marked, then what became of each row. */
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
      // What became of the rows is one application's; for another they begin anew.
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

import type { SelectProps } from 'antd'
import type { KeyboardEvent } from 'react'
import { Select } from './fields.tsx'

/** Chooses several. Tab leaves it and changes nothing: antd would choose or clear the option that the list is at. */
export function ManySelect<Value = string[]>(props: Omit<SelectProps<Value>, 'mode'>) {
  return (
    <div className="contents" onKeyDownCapture={passTab}>
      <Select<Value> {...props} mode="multiple" />
    </div>
  )
}

function passTab(event: KeyboardEvent): void {
  if (event.key === 'Tab') event.stopPropagation()
}

import { Checkbox } from 'antd'

interface Choosable {
  key: string
  title: string
  isFixed?: boolean
}

interface ColumnsProps {
  columns: readonly Choosable[]
  shown: readonly Choosable[]
  choose: (keys: string[]) => void
}

/** Lets the user choose the visible columns of a table. */
export function Columns({ columns, shown, choose }: ColumnsProps) {
  return (
    <Checkbox.Group
      className="stacked scrolls"
      value={shown.map(({ key }) => key)}
      onChange={(keys) => choose(keys as string[])}
      options={columns.map(({ key, title, isFixed }) => ({ value: key, label: title, disabled: isFixed === true }))}
    />
  )
}

import { type CSSProperties, useId } from 'react'

interface SegmentsProps<Value extends string | number> {
  label: string
  /** Set by the form field. */
  value?: Value
  onChange?: (value: Value) => void
  options: { value: Value; label: string }[]
  style?: CSSProperties
}

/** A choice of one of a few options, all visible. */
export function Segments<Value extends string | number>({
  label,
  value,
  onChange,
  options,
  style,
}: SegmentsProps<Value>) {
  const name = useId()
  return (
    <div className="segments" role="radiogroup" aria-label={label} style={style}>
      {options.map((option) => (
        <label key={option.value}>
          <input type="radio" name={name} checked={option.value === value} onChange={() => onChange?.(option.value)} />
          <span>{option.label}</span>
        </label>
      ))}
    </div>
  )
}

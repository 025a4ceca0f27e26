import { type CSSProperties, useId } from 'react'

interface SegmentsProps<Value extends string | number> {
  label: string
  /** A field of a form gives them. */
  value?: Value
  onChange?: (value: Value) => void
  options: { value: Value; label: string }[]
  style?: CSSProperties
}

/** One of few, all of them in sight. */
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

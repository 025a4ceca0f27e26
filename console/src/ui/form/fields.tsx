import type { CascaderProps, InputProps, InputRef, SelectProps } from 'antd'
import { type CSSProperties, type Ref, Suspense } from 'react'
import { part } from '../page/part.tsx'

// Fields whose code is loaded after their page; their space is reserved until then.

const LazyInput = part(() => import('antd/es/input'))
const LazySelect = part(() => import('antd/es/select'))
const LazyCascader = part(() => import('antd/es/cascader'))

export function Input(props: InputProps & { ref: Ref<InputRef> }) {
  return (
    <Suspense fallback={<Place style={props.style} />}>
      <LazyInput {...props} />
    </Suspense>
  )
}

export function Select<Value>(props: SelectProps<Value>) {
  return (
    <Suspense fallback={<Place style={props.style} />}>
      <LazySelect {...(props as SelectProps)} />
    </Suspense>
  )
}

export function Cascader<Option extends object>(props: CascaderProps<Option>) {
  return (
    <Suspense fallback={<Place style={props.style} />}>
      <LazyCascader {...(props as object)} />
    </Suspense>
  )
}

const Place = ({ style }: { style: CSSProperties | undefined }) => <div className="field-place" style={style} />

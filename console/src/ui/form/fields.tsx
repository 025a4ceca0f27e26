import type { CascaderProps, InputProps, InputRef, SelectProps } from 'antd'
import type { ComponentType, CSSProperties, ReactNode, Ref } from 'react'
import { part } from '../page/part.tsx'

// Fields whose code is loaded after their page; their space is reserved until then.

const placeOf = ({ style }: { style?: CSSProperties | undefined }) => <div className="field-place" style={style} />

export const Input = part<InputProps & { ref: Ref<InputRef> }>(
  async () => (await import('antd/es/input')).default,
  placeOf,
)

export const Select = part(
  async () => (await import('antd/es/select')).default as ComponentType<SelectProps>,
  placeOf,
) as <Value>(props: SelectProps<Value>) => ReactNode

export const Cascader = part(
  async () => (await import('antd/es/cascader')).default as ComponentType<CascaderProps>,
  placeOf,
) as unknown as <Option extends object>(props: CascaderProps<Option>) => ReactNode

import { useQuery } from '@tanstack/react-query'
import { Spin } from 'antd'
import { useId, useState } from 'react'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { getRegionTree } from '../../../src/regions/contract.ts'
import { call } from '../api/api.ts'
import { Cascader } from '../ui/form/fields.tsx'
import { useTexts } from './texts.ts'

/** An administrative division and those below it. */
export interface Region {
  code: string
  name: string
  /** 1 province, 2 city, 3 district. */
  level: number
  children: Region[]
}

/** The regions, which operators change rarely. */
export function useRegions(enabled = true) {
  return useQuery<Region[], ForecourtError>({
    enabled,
    queryKey: [getRegionTree.id, {}],
    queryFn: async () => (await call(getRegionTree, {})).data.list as Region[],
    staleTime: 60_000,
  })
}

/** The divisions of these codes, from the province down, as far as the table has them. */
export function regionPath(tree: readonly Region[], codes: readonly string[]): Region[] {
  const [code, ...below] = codes
  const region = tree.find((known) => known.code === code)
  return region === undefined ? [] : [region, ...regionPath(region.children, below)]
}

/** The region of each level, from the province down: a province can govern a district directly. */
export const byLevel = (regions: readonly Region[]) => [1, 2, 3].map((at) => regions.find(({ level }) => level === at))

/** The codes of these regions; empty where there is none. */
export function codesOf(regions: readonly Region[]): RegionCodes {
  const [provinceCode = '', cityCode = '', districtCode = ''] = byLevel(regions).map((region) => region?.code ?? '')
  return { provinceCode, cityCode, districtCode }
}

interface RegionCascaderProps {
  id?: string
  /** The codes from the province down. */
  value?: string[] | undefined
  onChange?: (codes: string[], regions: Region[]) => void
  /** Allows to choose a province or a city alone. */
  isAnyLevel?: boolean
  width?: number | string
}

/** Chooses a district level by level, or by a part of its name or code. */
export function RegionCascader({ id, value = [], onChange, isAnyLevel = false, width = '100%' }: RegionCascaderProps) {
  const t = useTexts()
  const [isWanted, setWanted] = useState(value.length > 0)
  // The table is large, so it is loaded only when somebody opens the field.
  const { data, isFetching } = useRegions(isWanted || value.length > 0)
  return (
    <Cascader<Region>
      {...(id === undefined ? {} : { id })}
      aria-label={t('division')}
      style={{ width }}
      options={data ?? []}
      fieldNames={{ label: 'name', value: 'code', children: 'children' }}
      changeOnSelect={isAnyLevel}
      loading={isFetching}
      onFocus={() => setWanted(true)}
      onOpenChange={() => setWanted(true)}
      placeholder={t('choose')}
      showSearch={{
        filter: (text, path) => path.some(({ code, name }) => name.includes(text) || code.startsWith(text)),
        limit: 50,
      }}
      notFoundContent={isFetching ? <Spin /> : undefined}
      value={value}
      onChange={(codes, regions) => onChange?.((codes ?? []) as string[], (regions ?? []) as Region[])}
    />
  )
}

export interface RegionCodes {
  provinceCode: string
  cityCode: string
  districtCode: string
}

interface RegionFilterProps {
  values: RegionCodes
  onChange: (codes: RegionCodes) => void
}

/** The cascader as a filter: a province, one of its cities, or one of their districts. */
export function RegionFilter({ values, onChange }: RegionFilterProps) {
  const t = useTexts()
  const id = useId()
  const codes = [values.provinceCode, values.cityCode, values.districtCode].filter((code) => code !== '')
  return (
    <label htmlFor={id}>
      {t('division')}
      <RegionCascader
        id={id}
        isAnyLevel
        width={240}
        value={codes}
        onChange={(_, regions) => onChange(codesOf(regions))}
      />
    </label>
  )
}

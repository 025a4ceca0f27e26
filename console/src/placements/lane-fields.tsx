import { Form, Select } from 'antd'
import { useId } from 'react'
import { lengths } from '../../../src/vocabulary/values.ts'
import { LimitedInput } from '../ui/form/limited.tsx'
import { type LaneType, laneTypes, useTexts } from './texts.ts'

export interface LaneDraft {
  laneType: LaneType
  laneName: string
}

interface LaneFieldsProps {
  draft: LaneDraft
  onChange: (draft: LaneDraft) => void
  /** False for several devices, which have no lane name in common. */
  hasName?: boolean
}

/** The fields of a lane: its kind and its name. */
export function LaneFields({ draft, onChange, hasName = true }: LaneFieldsProps) {
  const t = useTexts()
  const id = useId()
  return (
    <>
      <Form.Item label={t('laneType')} required htmlFor={`${id}-type`}>
        <Select
          id={`${id}-type`}
          value={draft.laneType}
          onChange={(laneType) => onChange({ ...draft, laneType })}
          options={laneTypes.map((value) => ({ value, label: t(`lane_${value}`) }))}
        />
      </Form.Item>
      {hasName && (
        <Form.Item label={t('laneName')} extra={t('laneNote')} htmlFor={`${id}-name`}>
          <LimitedInput
            id={`${id}-name`}
            most={lengths.name}
            value={draft.laneName}
            onChange={({ target }) => onChange({ ...draft, laneName: target.value })}
          />
        </Form.Item>
      )}
    </>
  )
}

import { Form, Select } from 'antd'
import { useId } from 'react'
import { lengths } from '../../../src/vocabulary/values.ts'
import { TextItem } from '../ui/form/text-item.tsx'
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
        <TextItem
          label={t('laneName')}
          extra={t('laneNote')}
          most={lengths.name}
          value={draft.laneName}
          onChange={(laneName) => onChange({ ...draft, laneName })}
        />
      )}
    </>
  )
}

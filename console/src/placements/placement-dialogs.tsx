import { Form } from 'antd'
import { useState } from 'react'
import { type PlacementRecord, removePlacement, savePlacement } from '../../../src/devices/placement/contract.ts'
import { newIdempotencyKey, useWrite } from '../api/api.ts'
import { Confirm } from '../ui/dialog/confirm.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { type LaneDraft, LaneFields } from './lane-fields.tsx'
import { SitePicker } from './parts.tsx'
import { type LaneType, useTexts } from './texts.ts'

interface PlaceProps {
  appId: string
  deviceNo: string
  /** The present placement, or the site that was already chosen. */
  now: Partial<Pick<PlacementRecord, 'siteId' | 'laneType' | 'laneName'>>
  onClose: () => void
}

/** Asks for a site and a lane, and places the device there. */
export function PlaceDialog({ appId, deviceNo, now, onClose }: PlaceProps) {
  const t = useTexts()
  const save = useWrite(savePlacement)
  const [siteId, setSiteId] = useState(now.siteId ?? null)
  const [lane, setLane] = useState<LaneDraft>({
    laneType: (now.laneType ?? 1) as LaneType,
    laneName: now.laneName ?? '',
  })

  async function run(): Promise<void> {
    if (siteId === null) return
    await save.mutateAsync({ input: { appId, deviceNo, siteId, ...lane } })
    showSuccess(t('placedOne'))
  }

  return (
    <Confirm
      isOpen
      title={t('placeTitle', { deviceNo })}
      verb={t('placeVerb')}
      isComplete={siteId !== null}
      run={run}
      onClose={onClose}
    >
      <Form.Item label={t('site')} required htmlFor="place-site">
        <SitePicker
          id="place-site"
          appId={appId}
          label={t('site')}
          placeholder={t('searchByName')}
          value={siteId}
          onChange={setSiteId}
        />
      </Form.Item>
      <LaneFields draft={lane} onChange={setLane} />
    </Confirm>
  )
}

interface RemoveProps {
  placement: Pick<PlacementRecord, 'appId' | 'deviceNo' | 'siteName'>
  onClose: () => void
}

/** Asks before a device is removed from its site. */
export function RemoveDialog({ placement: { appId, deviceNo, siteName }, onClose }: RemoveProps) {
  const t = useTexts()
  const remove = useWrite(removePlacement)
  const [headers] = useState(newIdempotencyKey)
  return (
    <Confirm
      isOpen
      title={t('removeTitle', { deviceNo, site: siteName })}
      verb={t('remove')}
      wantsReason="optional"
      run={(reason) =>
        remove.mutateAsync({ input: { appId, deviceNo, reason: reason.trim() === '' ? null : reason }, headers })
      }
      done={t('removed')}
      onClose={onClose}
    >
      {t('removeWords')}
    </Confirm>
  )
}

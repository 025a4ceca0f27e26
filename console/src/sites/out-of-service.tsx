import { useState } from 'react'
import { type SiteRecord, siteLengths, updateSite } from '../../../src/sites/contract.ts'
import { useWrite } from '../api/api.ts'
import { Confirm } from '../ui/dialog/confirm.tsx'
import { showSuccess } from '../ui/dialog/feedback.tsx'
import { TextItem } from '../ui/form/text-item.tsx'
import { isOutOfService, usualDaysOf } from './show.tsx'
import { useTexts } from './texts.ts'

interface OutOfServiceProps {
  site: SiteRecord
  isOpen: boolean
  onClose: () => void
}

/**
 * Takes a site out of service, and back. The interface has no state of a site: its working days, which are free text,
 * tell everybody who reads the site.
 */
export function OutOfService({ site, isOpen, onClose }: OutOfServiceProps) {
  const t = useTexts()
  const { appId, id, siteName, businessWeekDay } = site
  const isOut = isOutOfService(site)
  const out = t('outUsually', { days: businessWeekDay })
  const fitting = [...out].length > siteLengths.businessWeekDay ? t('outOfService') : out
  const proposed = isOut ? usualDaysOf(site) : fitting
  const [words, setWords] = useState(proposed)
  const update = useWrite(updateSite)

  async function run(): Promise<void> {
    await update.mutateAsync({ input: { appId, id, businessWeekDay: words.trim() } })
    showSuccess(t('savedMessage'))
  }

  return (
    <Confirm
      isOpen={isOpen}
      title={t(isOut ? 'backTitle' : 'outTitle', { name: siteName })}
      verb={t(isOut ? 'takeBack' : 'takeOut')}
      isComplete={isOut ? words.trim() !== '' : isOutOfService({ businessWeekDay: words.trim() })}
      fieldNames={{ businessWeekDay: t('businessWeekDay') }}
      run={run}
      onClose={() => {
        setWords(proposed)
        onClose()
      }}
    >
      <p>{t(isOut ? 'backWords' : 'outWords', { days: businessWeekDay })}</p>
      <TextItem
        label={t('businessWeekDay')}
        extra={isOut ? undefined : t('outForm', { begin: t('outOfService') })}
        most={siteLengths.businessWeekDay}
        isNeeded
        value={words}
        onChange={setWords}
        itemClass="flush-below"
      />
    </Confirm>
  )
}

import { SearchOutlined } from '@ant-design/icons'
import { useEffect, useState } from 'react'
import { Button } from '../../ui/page/button.tsx'
import { part } from '../../ui/page/part.tsx'
import { isSingleKeyOn } from './keys.ts'
import { useTexts } from './texts.ts'

const Palette = part(async () => (await import('./palette.tsx')).Palette)
const Shortcuts = part(async () => (await import('./shortcuts.tsx')).Shortcuts)

type Opened = 'find' | 'shortcuts'

/** What a key opens; nothing while the user types, or while a dialog is open. */
function openedBy(event: KeyboardEvent): Opened | undefined {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event
  if (event.defaultPrevented || document.querySelector('dialog[open]') !== null) return undefined
  if ((ctrlKey || metaKey) && !altKey && !shiftKey && key.toLowerCase() === 'k') return 'find'
  const typed = (event.target as Element).closest('input, textarea, select, [contenteditable], [role=combobox]')
  if (typed !== null || ctrlKey || metaKey || altKey || !isSingleKeyOn()) return undefined
  if (key === '/') return 'find'
  return key === '?' ? 'shortcuts' : undefined
}

/** The button that finds anything, and the shortcuts of the whole console. */
export function Find() {
  const t = useTexts()
  const [opened, open] = useState<Opened>()
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const asked = openedBy(event)
      if (asked === undefined) return
      event.preventDefault()
      open(asked)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  const close = () => open(undefined)
  return (
    <>
      <Button
        className="find-button"
        icon={<SearchOutlined />}
        aria-keyshortcuts="Control+K"
        aria-haspopup="dialog"
        onClick={() => open('find')}
      >
        <span className="find-words">{t('find')}</span>
        <kbd className="find-words" aria-hidden>
          Ctrl K
        </kbd>
      </Button>

      {opened === 'find' && <Palette onClose={close} onShortcuts={() => open('shortcuts')} />}
      {opened === 'shortcuts' && <Shortcuts onClose={close} />}
    </>
  )
}

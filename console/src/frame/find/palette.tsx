import { useEffect, useId, useState } from 'react'
import { useNavigate } from 'react-router'
import { type Found, type FoundKind, foundKinds, search } from '../../../../src/service/search/contract.ts'
import { lengths, serialPattern } from '../../../../src/vocabulary/values.ts'
import { useRead } from '../../api/api.ts'
import { plainCode } from '../../browser/typed.ts'
import { useLanguage } from '../../language/index.ts'
import { paths } from '../../paths.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { useLeave } from '../../ui/form/leaving.tsx'
import { RefusalAlert } from '../../ui/page/refusal-alert.tsx'
import { ApplicationLabel } from '../../ui/text/application-name.tsx'
import { operationWords } from '../../words/operation-words.ts'
import { useEntries } from '../navigation.tsx'
import './find.css'
import { useRested } from '../../ui/filter/search.tsx'
import { otherWords, useTexts } from './texts.ts'

/** One line of what is found. */
interface Line {
  key: string
  words: string
  otherWords?: string
  /** The serial number, or the id of a request. */
  id?: string
  appId?: string | null
  go: () => void
}

interface Group {
  title: string
  lines: Line[]
}

/** A code that an input method has typed in full width, or with signs that nobody sees; no name has only such signs. */
const fullWidthCode = /^(?=.*[\uff01-\uff5e\p{Cf}])[\x21-\x7e\uff01-\uff5e\p{Cf}]+$/u

/** How long no key must be pressed before the typed text is searched for, in milliseconds. */
const restMs = 120

interface PaletteProps {
  onClose: () => void
  onShortcuts: () => void
}

/** Finds records and pages by typed text: arrow keys choose, Enter opens. */
export function Palette({ onClose, onShortcuts }: PaletteProps) {
  const t = useTexts()
  const listId = useId()
  const [text, setText] = useState('')
  const { groups, found, error, isLooking } = useGroups(text, onClose, onShortcuts)
  const lines = groups.flatMap((group) => group.lines)
  const [chosenKey, choose] = useState<string>()
  const place = Math.max(
    0,
    lines.findIndex(({ key }) => key === chosenKey),
  )
  const chosen = lines[place]
  const idOf = ({ key }: Line) => `${listId} ${key}`.replaceAll(/\s/g, '_')
  const chosenId = chosen && idOf(chosen)
  useEffect(() => {
    if (chosenId !== undefined) document.getElementById(chosenId)?.scrollIntoView({ block: 'nearest' })
  }, [chosenId])

  function onKeyDown(event: React.KeyboardEvent): void {
    if (lines.length === 0) return
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 }
    const step = steps[event.key]
    if (step !== undefined) choose(lines[(place + step + lines.length) % lines.length]?.key)
    else if (event.key === 'Enter') chosen?.go()
    else return
    event.preventDefault()
  }

  return (
    <Dialog isBare className="find" width={640} title={t('find')} onClose={onClose}>
      <input
        className="find-input"
        type="text"
        role="combobox"
        aria-label={t('find')}
        aria-expanded={lines.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={chosenId}
        autoComplete="off"
        spellCheck={false}
        placeholder={t('what')}
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          choose(undefined)
        }}
        onKeyDown={onKeyDown}
      />
      <RefusalAlert error={error} />
      <div id={listId} role="listbox" aria-label={t('find')} className="find-list" aria-busy={isLooking}>
        {groups.map(({ title, lines: own }, index) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options has no element of its own
          <div key={title} role="group" aria-labelledby={`${listId}-${index}`}>
            <div id={`${listId}-${index}`} className="find-title">
              {title}
            </div>
            {own.map((line) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the field has the focus and takes the keys
              <div
                key={line.key}
                id={idOf(line)}
                role="option"
                aria-selected={line === chosen}
                className="find-line"
                onClick={line.go}
                onPointerMove={() => choose(line.key)}
              >
                <span className="one-line">{line.words}</span>
                {line.id && <span className="mono faint">{line.id}</span>}
                {line.appId && (
                  <span className="faint one-line">
                    <ApplicationLabel appId={line.appId} />
                  </span>
                )}
              </div>
            ))}
          </div>
        ))}
      </div>
      <div role="status" className="find-status faint">
        {isLooking ? '' : found === 0 ? t('nothing') : t('found', { count: found })}
      </div>
    </Dialog>
  )
}

/** The results for a text: pages at once, records when the service has responded. */
function useGroups(text: string, onClose: () => void, onShortcuts: () => void) {
  const t = useTexts()
  const language = useLanguage()
  const navigate = useNavigate()
  const leave = useLeave()
  const sought = fullWidthCode.test(text.trim()) ? plainCode(text) : text.trim()
  const asked = useRested(sought, restMs)
  const { data, error, isFetching } = useRead(search, { text: asked }, { enabled: asked !== '', keepsPrevious: true })
  const go = (path: string) => () => {
    onClose()
    leave(() => void navigate(path))
  }
  const pages = usePages(go, onShortcuts).filter((line) => isOf(line, sought.toLowerCase()))
  const list = asked === '' || sought === '' ? [] : (data?.list ?? [])
  const lineOf = (found: Found): Line => ({
    key: `${found.kind} ${found.id}`,
    words: found.kind === 'request' ? (operationWords[found.name]?.[language] ?? found.name) : found.name,
    ...((found.kind === 'device' || found.kind === 'request') && { id: found.id }),
    appId: found.kind === 'application' ? null : found.appId,
    go: go(pathOf(found)),
  })
  const records = foundKinds.map((kind) => ({
    title: t(kindWords[kind]),
    lines: list.filter((found) => found.kind === kind).map(lineOf),
  }))
  const all = (key: 'allDevices' | 'allNamed' | 'allSites', path: string) => ({
    key,
    words: t(key, { text: sought }),
    go: go(path),
  })
  const more = [
    ...(isSerial(sought) ? [all('allDevices', paths.devices({ deviceNo: sought }))] : []),
    all('allNamed', paths.devices({ deviceName: sought })),
    all('allSites', paths.sites({ siteName: sought })),
  ]
  const groups: Group[] = [
    ...(sought === '' ? [] : records),
    { title: t('pages'), lines: pages },
    // The filters take no longer text.
    { title: t('more'), lines: sought === '' || [...sought].length > lengths.name ? [] : more },
  ]
  return {
    groups: groups.filter(({ lines }) => lines.length > 0),
    error,
    /** Without the links to lists, which are there for every text. */
    found: groups.slice(0, -1).reduce((sum, { lines }) => sum + lines.length, 0),
    isLooking: sought !== asked || isFetching,
  }
}

/** Whether the filter by serial number takes the text. */
const isSerial = (text: string) => new RegExp(serialPattern, 'u').test(text)

/** Whether a page is sought by its title, or by two characters or more of another word for it. */
function isOf({ words, otherWords }: Line, sought: string): boolean {
  return words.toLowerCase().includes(sought) || (sought.length > 1 && (otherWords?.includes(sought) ?? false))
}

function usePages(go: (path: string) => () => void, onShortcuts: () => void): Line[] {
  const t = useTexts()
  const entries = useEntries()
  return [
    ...entries.map(({ key, path, title, otherWords }) => ({ key, words: title, otherWords, go: go(path) })),
    { key: 'guides', words: t('docs'), otherWords: otherWords.guides, go: () => window.location.assign('/docs') },
    { key: 'shortcuts', words: t('shortcuts'), otherWords: otherWords.shortcuts, go: onShortcuts },
  ]
}

const kindWords = {
  device: 'devices',
  site: 'sites',
  application: 'applications',
  billingRule: 'billingRules',
  operator: 'accounts',
  request: 'refusedRequests',
} as const satisfies Record<FoundKind, string>

const pathsOf: Record<FoundKind, (found: { id: string; appId: string; name: string }) => string> = {
  device: ({ appId, id }) => paths.device(appId, id),
  site: ({ appId, id }) => paths.site(appId, Number(id)),
  application: ({ id }) => paths.application(id),
  billingRule: ({ appId, id }) => paths.billingRule(appId, Number(id)),
  operator: ({ name }) => paths.people({ name }),
  request: ({ id }) => paths.refusals({ requestId: id }),
}

const pathOf = ({ kind, appId, ...found }: Found) => pathsOf[kind]({ ...found, appId: appId ?? '' })

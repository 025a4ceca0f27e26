import { useState } from 'react'
import { type ActKind, type ActName, singleOf } from '../../../src/bulk/acts/contract.ts'
import { useMay } from '../api/api.ts'
import { HinderedButton } from '../ui/form/hindered-button.tsx'
import { part } from '../ui/page/part.tsx'
import { grouped } from '../ui/text/number.ts'
import { useTexts } from './texts.ts'

const ActDialog = part(async () => (await import('./dialog.tsx')).ActDialog)

/** The rows that the filters of a list match, as its page operation counts them. */
interface Found {
  total: number
  totalIsExact: boolean
}

interface ButtonProps extends Found {
  appId: string
  /** What is done to all, by how many they are; empty if that is not known. */
  words: (count: string) => string
  /** Why no act is possible, although an application is chosen. */
  hindrance?: string | undefined
  onClick: () => void
}

/** The button next to a selection, for an act on everything that the list's filters match. */
export function AllThatMatchButton({ appId, total, totalIsExact, words, hindrance, onClick }: ButtonProps) {
  const t = useTexts()
  const why = appId === '' ? t('needsApplication') : hindrance
  return (
    <HinderedButton why={why} onClick={onClick}>
      {words(totalIsExact ? grouped(total) : '')}
    </HinderedButton>
  )
}

interface AllThatMatchProps extends Found {
  kind: ActKind
  appId: string
  /** The filters of the page, as its address has them. */
  values: Record<string, string>
}

/** The button for an act on everything that the filters of a list match, with its dialog. */
export function AllThatMatch({ kind, appId, values, ...found }: AllThatMatchProps) {
  const t = useTexts()
  const may = useMay()
  const [isOpen, setOpen] = useState(false)
  const acts = (Object.keys(singleOf[kind]) as ActName[]).filter((act) =>
    may((singleOf[kind] as Record<string, Parameters<typeof may>[0]>)[act] as Parameters<typeof may>[0]),
  )
  if (acts.length === 0) return null
  const words = (count: string) => t('allThatMatch', { count })
  return (
    <>
      {/* Only the button depends on the total: the dialog stays open when its act has removed the last row. */}
      {found.total > 0 && <AllThatMatchButton appId={appId} {...found} words={words} onClick={() => setOpen(true)} />}
      {isOpen && <ActDialog kind={kind} appId={appId} values={values} acts={acts} onClose={() => setOpen(false)} />}
    </>
  )
}

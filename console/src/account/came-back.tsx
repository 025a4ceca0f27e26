import { useSearchParams } from 'react-router'
import { Note } from '../ui/page/note.tsx'
import { part } from '../ui/page/part.tsx'

const Refusal = part(
  async () => (await import('./refusal-words.tsx')).RefusalWords,
  () => <Note type="error" words="…" />,
)

/** Shows the refusal with which a sign-on came back to this page; nothing if there is none. */
export function CameBack() {
  const [search] = useSearchParams()
  const code = Number(search.get('refusal'))
  if (!Number.isInteger(code) || code === 0) return null
  return <Refusal code={code} requestId={search.get('request') ?? ''} />
}

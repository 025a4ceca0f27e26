import { Link } from 'react-router'
import { type AnyEvent, subjectOf } from '../words/subject.ts'
import { useTexts } from './texts.ts'

/** The subject of an event, as a link to its page. */
export function SubjectLink({ event }: { event: AnyEvent }) {
  const t = useTexts()
  const { name, id, path } = subjectOf(event)
  if (id === '') return path === undefined ? t('noSubject') : <Link to={path}>{t('noSubject')}</Link>
  const words = (
    <>
      {name} <span className="mono">{id}</span>
    </>
  )
  return path === undefined ? <span>{words}</span> : <Link to={path}>{words}</Link>
}

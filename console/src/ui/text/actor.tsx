import { useCommon, useLanguage } from '../../language/index.ts'
import { actorWords } from './actor-words.ts'
import { ApplicationName } from './application-name.tsx'

/** The name of an actor: a person, a program's key, or an application. */
export function Actor({ actor }: { actor: string }) {
  const t = useCommon()
  const language = useLanguage()
  const [, kind = '', name = actor] = /^(\w+):(.*)$/s.exec(actor) ?? []
  if (kind === 'application') return <ApplicationName appId={name} />
  const known = actorWords(actor, language)
  return <span title={actor}>{known ?? (kind === 'operatorKey' ? t('keyNamed', { name }) : name)}</span>
}

/** The column of a row's actor. */
export function actorColumn<Item extends { actor: string }>(title: string) {
  return { key: 'actor', title, most: 160, render: ({ actor }: Item) => <Actor actor={actor} /> }
}

import { ApplicationName } from './application-name.tsx'
import { useCommon } from './texts.ts'

/** The name of an actor: a person, a program's key, or an application. */
export function Actor({ actor }: { actor: string }) {
  const t = useCommon()
  const [, kind = '', name = actor] = /^(\w+):(.*)$/s.exec(actor) ?? []
  if (kind === 'application') return <ApplicationName appId={name} />
  const words: Record<string, string> = { operatorKey: t('keyNamed', { name }), platform: t('platform') }
  return <span title={actor}>{words[kind] ?? (actor === 'anyone' ? t('anyone') : name)}</span>
}

/** The column of a row's actor. */
export function actorColumn<Item extends { actor: string }>(title: string) {
  return { key: 'actor', title, most: 160, render: (_: undefined, { actor }: Item) => <Actor actor={actor} /> }
}

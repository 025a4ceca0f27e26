import { useId } from 'react'
import { getOperator, pageOperatorKeys, pageOperators } from '../../../src/people/operators/contract.ts'
import { useMay, useRead } from '../api/api.ts'
import { useLanguage } from '../language/index.ts'
import { TextFilter } from '../ui/filter/filters.tsx'
import { NothingFound, useTypedSearch } from '../ui/filter/search.tsx'
import { Select } from '../ui/form/fields.tsx'
import { actorsWithoutAccount } from '../ui/text/actor-words.ts'
import { useTexts } from './texts.ts'

/**
 * Whose events the audit trail is asked for: an account or a key by its id, which a renaming does not change, or a
 * name.
 */
interface Asked {
  actor: string
  actorId: string
}

interface ActorFilterProps extends Asked {
  onChange: (asked: Asked) => void
}

/** Chooses a person or a key. A user who may not list these types a name. */
export function ActorFilter({ actor, actorId, onChange }: ActorFilterProps) {
  const t = useTexts()
  const may = useMay()
  if (may(pageOperators)) return <ActorPicker actor={actor} actorId={actorId} onChange={onChange} />
  return (
    <TextFilter
      label={t('actorName')}
      width={230}
      value={actor}
      meaning={wholeActor}
      onChange={(actor) => onChange({ actor, actorId: '' })}
    />
  )
}

/** A name without a prefix is a person's. */
function wholeActor(text: string): string {
  const isKind = ['operator:', 'operatorKey:'].some((kind) => kind.startsWith(text))
  return text === '' || isKind || text.includes(':') ? text : `operator:${text}`
}

const ofPerson = 'operator:'
const ofKey = 'operatorKey:'

function ActorPicker({ actor, actorId, onChange }: ActorFilterProps) {
  const t = useTexts()
  const language = useLanguage()
  const id = useId()
  const { search, asked, isAsked } = useTypedSearch()
  const people = useRead(pageOperators, { pageSize: 20, name: asked })
  const keys = useRead(pageOperatorKeys, { pageSize: 100 })
  const chosen = useRead(
    getOperator,
    { id: Number(actorId) },
    { enabled: actor.startsWith(ofPerson) && actorId !== '' },
  )
  // Until the typed text is asked for nothing is offered, so that Enter chooses nothing else.
  const isNamed = ({ name }: { name: string }) => isAsked && name.toLowerCase().includes(asked.toLowerCase())
  const others = actorsWithoutAccount.map(({ actor, words }) => ({ id: actor, name: words[language] }))
  const persons = isAsked ? (people.data?.list ?? []) : []
  // The field keeps the name of the chosen one while another is searched for.
  const isSearching = asked !== ''
  const known = [...persons, ...(chosen.data === undefined || isSearching ? [] : [chosen.data])]
  const option = (kind: string) => (one: { id: number; name: string }) => ({
    value: `${kind} ${one.id}`,
    label: one.name,
  })
  const options = [
    { label: t('account'), options: [...new Map(known.map((one) => [one.id, option(ofPerson)(one)])).values()] },
    { label: t('key'), options: (keys.data?.list ?? []).filter(isNamed).map(option(ofKey)) },
    { label: t('noAccount'), options: others.filter(isNamed).map(({ id, name }) => ({ value: id, label: name })) },
  ].filter((group) => group.options.length > 0)
  const value = actor === '' ? null : actorId === '' ? actor : `${actor} ${actorId}`
  const isKnown = options.some((group) => group.options.some((one) => one.value === value))
  // An account that is gone has only its id; what it did stays.
  const gone = actorId === '' ? actor : `${t(actor === ofKey ? 'key' : 'account')} #${actorId}`
  const isGone = value !== null && !isKnown && !isSearching && !chosen.isLoading && !keys.isLoading
  const unknown = isGone ? [{ value, label: gone }] : []
  return (
    <label htmlFor={id}>
      {t('by')}
      <Select<string | null>
        id={id}
        aria-label={t('by')}
        style={{ minWidth: 200, maxWidth: 260 }}
        popupMatchSelectWidth={false}
        showSearch={{ filterOption: false, onSearch: search }}
        allowClear
        placeholder={t('anyone')}
        value={value}
        onChange={(chosen) => {
          // A kind and an id, or the whole name of an actor that has neither.
          const [, actor = chosen ?? '', actorId = ''] = /^(\w+:) (\d+)$/.exec(chosen ?? '') ?? []
          onChange({ actor, actorId })
        }}
        notFoundContent={<NothingFound isWaiting={!isAsked || people.isFetching} words={t('noActor')} />}
        options={[...unknown, ...options]}
      />
    </label>
  )
}

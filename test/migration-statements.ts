/** The harmless effects that a statement can have on the writers of a large table. */
const harmless = {
  leaves: 'it leaves them alone',
  outside: 'it leaves them alone, and PostgreSQL takes it outside a transaction only',
  lasts: 'it leaves them alone, and the more rows there are, the longer it takes',
  locks: 'it is short, and from then on they wait until its transaction ends',
}
/**
 * Any other text means that the statement blocks writers, for longer the more rows there are; the text says what to
 * write instead.
 */
type Effect = keyof typeof harmless | (string & {})
/** The first pattern that matches determines the effect. */
type Known = readonly (readonly [RegExp, Effect])[]

const outside = 'in a file that begins with `-- outside a transaction`'
const inTurns = 'add a nullable column without that, which the service fills in turns'
const unknown =
  'it is none of the statements that are known to leave writers alone; if it must stay, the head of its file says why'

const knownStatements: Known = [
  [/^create table \w+ (\([^()]*\) )?as /, 'lasts'],
  [/^create table \w+ \((?!.*\) inherits)/, 'leaves'],
  [/^create (unique )?index (?!concurrently )/, `create the index concurrently, ${outside}`],
  [/^(create (unique )?|drop |re)index .*\bconcurrently /, 'outside'],
  [/^(cluster|reindex|vacuum full|vacuum \()/, 'leave it to the operator, who knows when nobody writes'],
  [/^insert into (?!.*\bselect\b)/, 'leaves'],
  [/^(update|delete from) .* where \w+ in \( select [^()]*\blimit \d{1,4} \)$/, 'locks'],
  [/^(update|delete from|insert into .* do update) /, 'let the service do it in turns, or bound it by `limit 1000`'],
  [/^(insert into|analyze) /, 'lasts'],
  [/^(drop (table|index|trigger)|create (constraint )?trigger) /, 'locks'],
  [/^create (function|procedure|view|sequence|type|statistics) /, 'leaves'],
  [/^drop (function|procedure|view|sequence|type|statistics) /, 'leaves'],
  [/^(alter index \w+ rename|alter sequence|comment on|grant|revoke) /, 'leaves'],
]

/** The actions of `alter table`, with everything inside brackets removed. */
const knownActions: Known = [
  [/^validate constraint /, 'lasts'],
  [/^add (constraint \w+ )?(check|foreign key) .*\bnot valid$/, 'locks'],
  [/^add (constraint \w+ )?(check|foreign key) /, 'add it `not valid`, and validate it in a later file'],
  // `primary key` is fast only if the index's columns are `not null`, which this check cannot see.
  [/^add (constraint \w+ )?(unique|primary key) using index /, 'locks'],
  [
    /^add (constraint \w+ )?(unique|primary key) /,
    `create a unique index concurrently, ${outside}, then add it \`using index\``,
  ],
  [/^add (constraint|exclude|not null) /, unknown],
  [/^add (column )?\w+ ((big|small)?serial|.* generated )/, inTurns],
  [
    /^add (column )?\w+ .* (check|unique|primary key|default .* references)\b/,
    'add the column alone, then the constraint',
  ],
  [/^add (column )?\w+ .*\bdefault\b.*\(/, `${inTurns}, and \`set default\` for new rows`],
  [/^add (column )?\w+ (?!.*\bdefault\b).* not null/, 'give it a constant default'],
  [/^add (column )?\w+ /, 'locks'],
  [/^alter (column )?\w+ (set data )?type /, `${inTurns}, and drop the old one`],
  [
    /^alter (column )?\w+ set not null/,
    'add `check (column is not null) not valid`, and validate it in a later file, before this one',
  ],
  [
    /^alter (column )?\w+ (set default |drop (default|not null)|set (statistics|storage|compression) |(set|reset) \()/,
    'locks',
  ],
  [/^(drop (column|constraint)|rename|enable|disable|owner to|set \(|reset \()/, 'locks'],
]

const subject =
  /^(?:(create|alter|drop) table|create (?:unique )?index(?: \w+)? on|update|delete from|insert into|.*? trigger .*? on) (\w+) ?(.*)/

/**
 * Finds the statements in migrations that would block the writers of a large table, and what to write instead of each.
 */
export function refuseHolds(files: readonly { file: string; text: string }[]): { file: string; refusal: string }[] {
  /** The constraints that check a column for null, by table and constraint name. */
  const checks = new Map<string, { column: string; isValid: boolean }>()

  function effectOfAction(action: string, table: string): Effect {
    const [, added, ofColumn = ''] = /^add constraint (\w+) check \( (\w+) is not null \)/.exec(action) ?? []
    if (added !== undefined) checks.set(`${table} ${added}`, { column: ofColumn, isValid: false })
    const validated = checks.get(`${table} ${/^validate constraint (\w+)/.exec(action)?.[1]}`)
    if (validated !== undefined) validated.isValid = true
    const column = /^alter (?:column )?(\w+) set not null/.exec(action)?.[1]
    const isProven = [...checks].some(
      ([key, { column: of, isValid }]) => isValid && of === column && key.startsWith(`${table} `),
    )
    return isProven ? 'locks' : effectIn(knownActions, blankBrackets(action))
  }

  function effectsOfActions(table: string, actions: string): Effect[] {
    // PostgreSQL drops constraints before its other actions, wherever `drop` is written in the statement.
    for (const [, name] of actions.matchAll(/\bdrop constraint (\w+)/g)) checks.delete(`${table} ${name}`)
    return split(actions, ',').map((action) => effectOfAction(action, table))
  }

  return files.flatMap(({ file, text }) => {
    const isOutside = text.startsWith('-- outside a transaction\n')
    const created = new Set<string>()
    const locked = new Set<string>()
    return split(readable(text), ';').flatMap((statement) => {
      const [, verb, table = statement, rest = ''] = subject.exec(statement) ?? []
      const all = verb === 'alter' ? effectsOfActions(table, rest) : [effectIn(knownStatements, statement)]
      const effects = created.has(table) ? all.filter((effect) => effect === 'lasts') : all
      if (verb === 'create') created.add(table)
      const named = effects.includes('locks') ? [table] : []
      // Adding a foreign key locks both tables.
      if (verb !== undefined) for (const [, other = ''] of statement.matchAll(/\breferences (\w+)/g)) named.push(other)
      const now = named.filter((name) => !created.has(name))
      const [held] = [...locked, ...now]
      let instead = effects.find((effect) => !(effect in harmless))
      if (effects.includes('outside') && !isOutside) instead ??= `write it ${outside}`
      if (isOutside && held !== undefined) {
        instead ??= 'put it into a file in a transaction, where it gives up waiting for its lock'
      } else if (effects.includes('lasts') && held !== undefined) {
        instead ??= `put it into a file of its own: meanwhile the writers of ${held} wait`
      } else if (locked.size > 0 && now.some((name) => !locked.has(name))) {
        instead ??= `put it into a file of its own: the writers of ${held} wait while it waits for its lock`
      }
      for (const name of now) locked.add(name)
      return instead === undefined ? [] : [{ file, refusal: `\`${statement}\` can hold up writers: ${instead}` }]
    })
  })
}

function effectIn(known: Known, text: string): Effect {
  return known.find(([pattern]) => pattern.test(text))?.[1] ?? unknown
}

/** SQL in lower case with single spaces, without comments, quoted text and words that have no effect here. */
function readable(text: string): string {
  const opaque =
    /--[^\n]*|\/\*.*?\*\/|\be'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|\$([a-z_]\w*|)\$.*?\$\1\$|"(?:[^"]|"")*"/gis
  const plain = text.replaceAll(opaque, (token) => {
    if (token.startsWith('"')) return token.slice(1, -1).replaceAll(/\W/g, '_')
    return /^(--|\/\*)/.test(token) ? ' ' : "''"
  })
  return (
    plain
      .toLowerCase()
      .replaceAll(/[(),;]/g, ' $& ')
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/\b(if exists|only|unlogged|or replace) |\bpublic\./g, '')
      // `now()` returns the same value for the whole statement; any other function may return a new value for each row.
      .replaceAll(/\bnow \( \)/g, 'now')
  )
}

function split(text: string, mark: string): string[] {
  let depth = 0
  const parts = ['']
  for (const word of text.split(' ')) {
    if (word === '(') depth++
    if (word === ')') depth--
    if (word === mark && depth === 0) parts.push('')
    else parts.push(`${parts.pop()} ${word}`)
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

function blankBrackets(text: string): string {
  let depth = 0
  const kept = text.split(' ').filter((word) => {
    if (word === ')') depth--
    const isOuter = depth === 0
    if (word === '(') depth++
    return isOuter
  })
  return kept.join(' ')
}

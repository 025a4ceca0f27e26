/** The members of a site's record that hold personal data. */
const personalMembers = ['contacts', 'contactsPhone', 'customerServicePhone']
/** Replaces erased values: a text, because readers of these members expect one. */
const erased = '***'

/** Whether a record of this schema, or one within it, can hold personal data. */
export function canHoldPersonalData(schema: unknown): boolean {
  const text = JSON.stringify(schema)
  return personalMembers.some((member) => text.includes(`"${member}":`))
}

/** Erases personal data from the JSON text of one record or several; undefined when it holds none. */
export function withoutPersonalData(json: string): string | undefined {
  let isChanged = false
  const text = JSON.stringify(JSON.parse(json), (member, value) => {
    if (!personalMembers.includes(member) || typeof value !== 'string' || value === erased) return value
    isChanged = true
    return erased
  })
  return isChanged ? text : undefined
}

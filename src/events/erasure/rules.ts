const personalMembers = ['contacts', 'contactsPhone', 'customerServicePhone']
/** Erased values become a text, because readers expect one. */
const erased = '***'

/** Tells whether records of this schema can hold personal data. */
export function canHoldPersonalData(schema: unknown): boolean {
  const text = JSON.stringify(schema)
  return personalMembers.some((member) => text.includes(`"${member}":`))
}

/** Erases personal data from the JSON of records; undefined if there is none. */
export function withoutPersonalData(json: string): string | undefined {
  let isChanged = false
  const text = JSON.stringify(JSON.parse(json), (member, value) => {
    if (!personalMembers.includes(member) || typeof value !== 'string' || value === erased) return value
    isChanged = true
    return erased
  })
  return isChanged ? text : undefined
}

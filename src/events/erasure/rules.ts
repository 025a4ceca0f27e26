/** What a site's record says of people. */
const personalMembers = ['contacts', 'contactsPhone', 'customerServicePhone']
/** In the place of what was erased: text, as every reader of these members expects it. */
const erased = '***'

/** A record, or an answer with several, as JSON text without what it says of people; undefined where it says nothing. */
export function withoutPeople(json: string): string | undefined {
  let isChanged = false
  const text = JSON.stringify(JSON.parse(json), (member, value) => {
    if (!personalMembers.includes(member) || typeof value !== 'string' || value === erased) return value
    isChanged = true
    return erased
  })
  return isChanged ? text : undefined
}

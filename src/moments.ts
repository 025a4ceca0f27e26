/** Makes the function that shows an instant as `yyyy-MM-dd HH:mm:ss` in one time zone. */
export function momentFormat(timeZone: string): (instant: Date) => string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  // Formatting costs more than all else that composes a record, and a busy second asks for it thousands of times.
  let lastSecond = Number.NaN
  let lastShown = ''
  return (instant) => {
    const second = Math.floor(instant.getTime() / 1000)
    if (second !== lastSecond) {
      lastShown = format.format(instant)
      lastSecond = second
    }
    return lastShown
  }
}

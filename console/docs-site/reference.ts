// The API reference needs no script to be read. This one opens the form of an operation (reference-page.ts) and sends
// what is filled in to this service: with the token that the reader enters, else with the session of the console.

/** A longer response is a file, or a stream without an end. */
const mostShown = 200_000
/** Kept for the next form of the page, and nowhere else. */
let token = ''

document.addEventListener('click', ({ target }) => {
  if (!(target instanceof HTMLButtonElement)) return
  const template = target.nextElementSibling
  if (!(template instanceof HTMLTemplateElement)) return
  const form = template.content.querySelector('form')?.cloneNode(true) as HTMLFormElement
  target.replaceWith(form)
  const fields = fieldsOf(form)
  for (const field of fields) if (field.dataset.place === 'token') field.value = token
  ;(fields[0] ?? form.querySelector('button'))?.focus()
  startOnSubmit(form)
})

const fieldsOf = (form: HTMLFormElement) => [
  ...form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input, textarea'),
]

/** Each submit sends the form; while a response is awaited or arrives, it stops that instead. */
function startOnSubmit(form: HTMLFormElement): void {
  const part = (selector: string) => form.querySelector(selector) as HTMLElement
  const [button, status, response] = [part('button'), part('[role=status]'), part('pre')]
  const show = (text: string) => {
    response.textContent = text
    response.hidden = text === ''
  }
  let sending: AbortController | undefined

  async function submit(): Promise<void> {
    if (sending !== undefined) return sending.abort()
    const fault = faultIn(form.querySelector('textarea'))
    show('')
    status.textContent = fault ?? 'Sending…'
    if (fault !== undefined) return
    sending = new AbortController()
    button.textContent = 'Stop'
    try {
      await send(sending)
    } catch (error) {
      if (sending.signal.aborted) status.append(' · Stopped.')
      else status.textContent = `No response. Check the connection and your values, then send again. (${error})`
    }
    sending = undefined
    button.textContent = 'Send'
  }

  async function send(abort: AbortController): Promise<void> {
    const begunAt = performance.now()
    const [url, request] = requestOf(form)
    const answer = await fetch(url, { ...request, signal: abort.signal })
    const took = `${Math.round(performance.now() - begunAt)} ms`
    const id = `X-Request-Id: ${answer.headers.get('x-request-id') ?? 'none'}`
    status.textContent = [`${answer.status} ${answer.statusText}`.trim(), took, id].join(' · ')
    let text = ''
    for (const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader(); reader !== undefined; ) {
      const { done, value } = await reader.read()
      if (done) break
      text += value
      show(text.slice(0, mostShown))
      if (text.length <= mostShown) continue
      status.append(' · Only the beginning is shown.')
      return await reader.cancel()
    }
    if (answer.headers.get('content-type')?.startsWith('application/json')) show(indented(text))
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void submit()
  })
}

/** The request as it is filled in. Throws if a header can't have its value. */
function requestOf(form: HTMLFormElement): [url: string, request: RequestInit] {
  const { path = '', method } = form.dataset
  const given = fieldsOf(form).filter(({ value }) => value.trim() !== '')
  const valuesOf = (place: string) =>
    given.flatMap(({ name, value, dataset }) => (dataset.place === place ? [[name, value.trim()]] : []))
  const query = new URLSearchParams(valuesOf('query'))
  const headers = new Headers(valuesOf('header') as [string, string][])
  if (form.querySelector('[data-place=token]') !== null) token = valuesOf('token')[0]?.[1] ?? ''
  if (valuesOf('token').length > 0) headers.set('authorization', `Bearer ${token}`)
  const field = given.find(({ dataset }) => dataset.place === 'body')
  const file = field instanceof HTMLInputElement ? field.files?.[0] : undefined
  const types = field?.dataset.types?.split(' ') ?? []
  const ending = file?.name.split('.').at(-1) ?? ''
  const type = types.find((one) => one.endsWith(ending)) ?? types[0]
  if (type !== undefined) headers.set('content-type', type)
  return [query.size === 0 ? path : `${path}?${query}`, { method, headers, body: file ?? field?.value }]
}

/** What is wrong with the JSON of a field, which then has the focus. */
function faultIn(field: HTMLTextAreaElement | null): string | undefined {
  try {
    if (field !== null) JSON.parse(field.value)
    field?.removeAttribute('aria-invalid')
    return undefined
  } catch (error) {
    field?.setAttribute('aria-invalid', 'true')
    field?.focus()
    return `The body isn’t valid JSON, so nothing was sent. (${error})`
  }
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}

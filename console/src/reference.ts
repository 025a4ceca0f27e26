// The API reference is read without a script. This one is for trying: it loads Swagger UI, which takes a second, for the
// operation that somebody wants to try, and no sooner.

document.addEventListener('click', async ({ target }) => {
  if (!(target instanceof HTMLButtonElement) || target.dataset.try === undefined) return
  target.disabled = true
  const [method = '', path = ''] = target.dataset.try.split(' ')
  const { tryOperation } = await import('./try-operation.ts')
  const place = document.createElement('div')
  target.replaceWith(place)
  await tryOperation(place, method, path)
})

// The API reference needs no script to be read. This one loads Swagger UI, which takes a second, only when a reader
// wants to try an operation.

document.addEventListener('click', async ({ target }) => {
  if (!(target instanceof HTMLButtonElement) || target.dataset.try === undefined) return
  target.disabled = true
  const [method = '', path = ''] = target.dataset.try.split(' ')
  const { tryOperation } = await import('./try-operation.ts').catch(() => ({ tryOperation: undefined }))
  // After an upgrade, the file of an open page is gone.
  if (tryOperation === undefined) return location.reload()
  const place = document.createElement('div')
  target.replaceWith(place)
  await tryOperation(place, method, path)
})

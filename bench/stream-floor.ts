// The floor: the least that a server on Bun can do to pass one event to all its readers. It sends each body that it gets to
// all streams that are open, keeps nothing and knows nobody.

interface Direct {
  write(bytes: Uint8Array): void
  flush(): void
}

const opening = new TextEncoder().encode('\nid: 1\n\n')
const readers: Direct[] = []
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    if (request.method === 'GET') return new Response(stream(), { headers: { 'content-type': 'text/event-stream' } })
    const block = new Uint8Array(await request.arrayBuffer())
    for (const reader of readers) {
      reader.write(block)
      reader.flush()
    }
    return new Response()
  },
})

function stream(): ReadableStream {
  const source: object = {
    type: 'direct',
    pull(reader: Direct) {
      readers.push(reader)
      reader.write(opening)
      reader.flush()
      return new Promise(() => {})
    },
  }
  return new ReadableStream(source)
}

process.stdout.write(`ready at http://127.0.0.1:${server.port}\n`)

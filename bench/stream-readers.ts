// Readers of streams for streams.ts: opens what its parent asks for, and tells how many events have come.

interface Order {
  url: string
  appId: string
  /** Each opens this many streams. */
  tokens: string[]
  ofEach: number
}

const event = Buffer.from('\nevent: ')
const atOnce = 50
let opened = 0
let events = 0

async function open({ url, appId, tokens, ofEach }: Order): Promise<void> {
  const { hostname, port, pathname } = new URL(url)
  const all = tokens.flatMap((token) => Array.from({ length: ofEach }, () => token))
  for (let from = 0; from < all.length; from += atOnce) {
    await Promise.all(
      all.slice(from, from + atOnce).map((token) => openOne(hostname, Number(port), pathname, appId, token)),
    )
  }
}

function openOne(hostname: string, port: number, path: string, appId: string, token: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOpen = false
    void Bun.connect({
      hostname,
      port,
      socket: {
        open: (socket) =>
          void socket.write(
            `GET ${path}?appId=${appId} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${token}\r\n\r\n`,
          ),
        data(_, bytes) {
          for (let at = bytes.indexOf(event); at !== -1; at = bytes.indexOf(event, at + 1)) events++
          if (isOpen || !bytes.includes('\nid: ')) return
          isOpen = true
          opened++
          resolve()
        },
        close: () => reject(new Error('a stream was closed')),
        error: (_, error) => reject(error),
      },
    }).catch(reject)
  })
}

process.on('message', (order: Order | 'count') => {
  if (order === 'count') process.send?.({ opened, events })
  else void open(order).then(() => process.send?.({ opened, events }))
})

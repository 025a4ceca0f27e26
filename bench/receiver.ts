// A receiver of callbacks that responds after a delay, like one that writes to its own database.

const delayMs = Number(process.argv[2])

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    await request.text()
    await Bun.sleep(delayMs)
    return new Response('ok')
  },
})
process.stdout.write(`ready at http://127.0.0.1:${server.port}\n`)

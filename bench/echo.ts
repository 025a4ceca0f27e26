// The floor: the least that a server on Bun can do with a create. It reads the body and answers it.
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) => new Response(await request.text(), { headers: { 'content-type': 'application/json' } }),
})
process.stdout.write(`ready at http://127.0.0.1:${server.port}\n`)

import { expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../kit/folders.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { becomesTrue } from '../kit/waits.ts'

const place = ownWorkplace()

const isNode = process.env.FORECOURT_TEST_RUNTIME === 'node'
const listener = join(projectFolder, isNode ? 'dist/http/listen.js' : 'src/http/listen.ts')

/** A program with the real HTTP listener and handlers that fail in every possible way. */
const program = `
import { listen } from ${JSON.stringify(listener)}
const log = { error: (fields) => console.error(JSON.stringify({ id: fields.requestId, message: fields.err.message })) }
const handlers = {
  '/at-once': () => { throw new Error('inner words') },
  '/later': async () => { throw new Error('inner words') },
  '/nothing': async () => undefined,
  '/bad-header': async () => ({ status: 200, headers: { 'bad\\n': 'x' }, body: '' }),
  '/bad-status': async () => ({ status: 7, headers: {}, body: '' }),
  '/bad-body': async () => ({ status: 200, headers: {}, body: Symbol('inner words') }),
}
const fine = async () => ({ status: 200, headers: {}, body: 'fine' })
const { url } = await listen('127.0.0.1', 0, (request) => (handlers[request.path] ?? fine)(request), { log })
console.log(url)
`

test('whatever a handler throws is answered 49999 in the envelope, and the process lives', async () => {
  const file = join(place.home, 'listener.mjs')
  writeFileSync(file, program)
  const child = spawn(isNode ? 'node' : 'bun', [file], { stdio: ['ignore', 'pipe', 'pipe'] })
  try {
    let [out, errors] = ['', '']
    child.stdout.on('data', (piece) => {
      out += piece
    })
    child.stderr.on('data', (piece) => {
      errors += piece
    })
    expect(await becomesTrue(() => out.includes('\n')), errors).toBe(true)
    const url = out.trim()
    for (const path of ['/at-once', '/later', '/nothing', '/bad-header', '/bad-status', '/bad-body']) {
      const answer = await fetch(url + path)
      const text = await answer.text()
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 500, 'application/json'])
      expect(JSON.parse(text)).toEqual({ code: 49999, msg: expect.any(String), data: null })
      expect(text).not.toContain('inner words')
      // The log line of the error has the request's id.
      const id = String(answer.headers.get('x-request-id'))
      expect(await becomesTrue(() => errors.includes(id)), `${path}: ${errors}`).toBe(true)
      expect(await (await fetch(`${url}/fine`)).text()).toBe('fine')
    }
    expect(child.exitCode).toBeNull()
  } finally {
    child.kill('SIGKILL')
  }
})

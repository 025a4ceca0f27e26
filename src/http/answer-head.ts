import { STATUS_CODES } from 'node:http'
import type { HttpAnswer } from './message.ts'

const printable = /^[\t\x20-\x7e]*$/
const headerName = /^[\w-]+$/

let date = ''
let dateUntil = 0

/** ASCII, so that its length is its number of bytes. Throws for what no response may have. */
export function answerHead({ status, headers, cookies = [] }: HttpAnswer): string {
  const now = Date.now()
  if (now >= dateUntil) {
    date = new Date(now).toUTCString()
    dateUntil = now - (now % 1000) + 1000
  }
  const reason = STATUS_CODES[status]
  if (reason === undefined) throw new Error(`${status} is no status`)
  let head = `HTTP/1.1 ${status} ${reason}\r\n`
  for (const name in headers) head += headerLine(name, headers[name] as string)
  for (const cookie of cookies) head += headerLine('set-cookie', cookie)
  return `${head}date: ${date}\r\n\r\n`
}

function headerLine(name: string, value: string): string {
  if (!headerName.test(name) || !printable.test(value))
    throw new Error(`the header ${JSON.stringify(name)} has a character that no header may have`)
  return `${name}: ${value}\r\n`
}

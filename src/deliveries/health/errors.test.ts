import { expect, test } from 'bun:test'
import { attemptErrorOf } from './contract.ts'

test.each([
  ['answered 503', 'httpStatus'],
  ['the name was not found (ENOTFOUND)', 'nameNotFound'],
  ['the name server did not answer', 'nameServerSilent'],
  ['the address is private, local or reserved', 'privateAddress'],
  ['no answer in time', 'timeout'],
  ['the connection failed (ETIMEDOUT)', 'timeout'],
  ['the connection failed (ECONNREFUSED)', 'refused'],
  ['the connection failed (ECONNRESET)', 'closed'],
  ['the connection was closed', 'closed'],
  ['the connection failed (EHOSTUNREACH)', 'unreachable'],
  ['the connection failed (ERR_TLS_CERT_ALTNAME_INVALID)', 'tls'],
  ['the connection failed (CERT_HAS_EXPIRED)', 'tls'],
  ['the connection failed (DEPTH_ZERO_SELF_SIGNED_CERT)', 'tls'],
  ['the connection failed (UNABLE_TO_VERIFY_LEAF_SIGNATURE)', 'tls'],
  ['the URL must begin with https://', 'url'],
  ['the callback secret can’t be decrypted', 'secret'],
  ['the event is no longer stored', 'eventGone'],
  ['the connection failed (unknown)', 'other'],
] as const)('%s is %s', (error, code) => {
  expect(attemptErrorOf(error)).toBe(code)
})

import { expect, test } from 'bun:test'
import { UserError } from '../runtime/user-error.ts'
import { readDatabaseUrl } from './url.ts'

const plain = {
  addresses: [{ host: 'db', port: 5432 }],
  ...{ user: 'u', password: 'p', database: 'd' },
  ...{ sslmode: undefined, sslrootcert: undefined, isDirectTls: false, mayPrepare: true },
}

test('a URL is read as other clients write it', () => {
  for (const [url, differs] of [
    ['postgres://u:p@db/d', {}],
    ['postgresql://u:p@db:5432/d', {}],
    ['POSTGRES://u:p@db/d', {}],
    ['  postgres://u:p@db/d\r\n', {}],
    ['"postgres://u:p@db/d"', {}],
    ["'postgres://u:p@db/d'\n", {}],
    ['jdbc:postgresql://db/d?user=u&password=p', {}],
    ['postgresql+psycopg2://u:p@db/d', {}],
    ['postgres://u:p@db/a%20b%23c', { database: 'a b#c' }],
    ['postgres://u:p@db/a%2Fb%3Fc%40%25', { database: 'a/b?c@%' }],
    ['postgres://u:p@db/%E5%BA%93', { database: '库' }],
    ['postgres://u:p@db', { database: 'u' }],
    ['postgres://u:p@db/', { database: 'u' }],
    ['postgres://u:p@db?dbname=d', {}],
    ['postgres://u%40server:p@db/d', { user: 'u@server' }],
    ['postgres://u:%20%23%2F%40%3A%3F%25%26@db/d', { password: ' #/@:?%&' }],
    ['postgres://u:p+q@db/d', { password: 'p+q' }],
    ['postgres://u:p#q@db/d', { password: 'p#q' }],
    ['postgres://u:p@q:r@db/d', { password: 'p@q:r' }],
    ['postgres://u@db/d', { password: '' }],
    ['postgres://u:@db/d', { password: '' }],
    ['postgres://u:p@db:6432/d', { addresses: [{ host: 'db', port: 6432 }] }],
    [
      'postgres://u:p@db,[::1]:5433,10.0.0.1:1/d',
      {
        addresses: [
          { host: 'db', port: 5432 },
          { host: '::1', port: 5433 },
          { host: '10.0.0.1', port: 1 },
        ],
      },
    ],
    ['postgres://u:p@[fe80::1%25eth0]/d', { addresses: [{ host: 'fe80::1%eth0', port: 5432 }] }],
    ['postgres://u:p@/d?host=/run/pg&port=5433', { addresses: [{ host: '/run/pg', port: 5433 }] }],
    ['postgres://u:p@%2Frun%2Fpg/d', { addresses: [{ host: '/run/pg', port: 5432 }] }],
    [
      'postgres://u:p@localhost/d?host=a,b&port=1,2',
      {
        addresses: [
          { host: 'a', port: 1 },
          { host: 'b', port: 2 },
        ],
      },
    ],
    ['postgres:///d?user=u&password=p', { addresses: [{ host: 'localhost', port: 5432 }] }],
    ['postgres://u:p@db/d?sslmode=require&channel_binding=require', { sslmode: 'require' }],
    ['postgres://u:p@db/d?ssl=true', { sslmode: 'verify-full' }],
    ['postgres://u:p@db/d?ssl=false', { sslmode: 'disable' }],
    ['postgres://u:p@db/d?sslrootcert=%2Fa%2Bb.pem', { sslrootcert: '/a+b.pem' }],
    ['postgres://u:p@db/d?sslmode=require&sslnegotiation=direct', { sslmode: 'require', isDirectTls: true }],
    ['postgres://u:p@db/d?prepare=false', { mayPrepare: false }],
    ['postgres://u:p@db/d?pgbouncer=true&connection_limit=1&pool_timeout=0', { mayPrepare: false }],
    ['postgres://u:p@db/d?schema=public&client_encoding=UTF8', {}],
    ['postgres://u:p@db/d?currentSchema=public&ApplicationName=x&connectTimeout=5', {}],
    ['postgres://u:p@db/d?gssencmode=disable&keepalives=1&keepalives_idle=5&tcp_user_timeout=9', {}],
    ['postgres://u:p@db/d?application_name=x&connect_timeout=3&target_session_attrs=read-write', {}],
    ['postgres://u:p@db/d?options=', {}],
    ['postgres://u:p@db/d?', {}],
  ] as const) {
    expect([url, readDatabaseUrl(url)]).toEqual([url, { ...plain, ...differs } as never])
  }
})

test('what cannot be followed is refused in one sentence that holds nothing of the password', () => {
  for (const [url, said] of [
    ['host=db dbname=d password=secret', 'must begin with postgres://'],
    ['mysql://u:secret@db/d', 'must begin with postgres://'],
    ['DATABASE_URL=postgres://u:secret@db/d', 'must begin with postgres://'],
    ['jdbc:postgresql:d?password=secret', 'must begin with postgres://'],
    ['postgres:u:secret@db', 'must begin with postgres://'],
    ['postgres://u:x secret@db/d', 'a blank or a line break'],
    ['postgres://u:secret@db/a b', 'a blank or a line break'],
    ['postgres://u:se/cret@db/d', 'written as %2F'],
    ['postgres://u:12/secret@db/d', 'written as %2F'],
    ['postgres://u:x?secret=y@db/d', 'written as %2F'],
    ['postgres://u:secret@db/a/b', 'must be written as %2F'],
    ['postgres://u:secret@db/a#b', 'must be written as %23'],
    ['postgres://u:secret%@db/d', 'must be written as %25'],
    ['postgres://u:secret%ff@db/d', 'must be written as %25'],
    ['postgres://u:secret%00@db/d', '%00'],
    ['postgres://u:secret@::1/d', 'in brackets'],
    ['postgres://u:secret@[db]/d', 'in brackets'],
    ['postgres://u:secret', 'no number from 1 to 65535'],
    ['postgres://u:secret@db:0/d', 'no number from 1 to 65535'],
    ['postgres://u:secret@db:65536/d', 'no number from 1 to 65535'],
    ['postgres://u:secret@a,,b/d', 'no valid host'],
    ['postgres://u:secret@/d?host=/run,/other', 'only one socket'],
    ['postgres://u:secret@a,b,c/d?port=1,2', 'one port for all hosts'],
    [
      'postgres://u:secret@db/d?sslmod=require',
      'the parameter sslmod, which Forecourt does not know; the nearest that it knows is sslmode.',
    ],
    ['postgres://u:secret@db/d?wal_level=minimal', 'the parameter wal_level, which Forecourt does not know.'],
    ['postgres://u:secret@db/d?statement_timeout=1', 'the parameter statement_timeout, which'],
    ['postgres://u:secret@db/d?sslmode=on', 'must be one of disable, allow'],
    ['postgres://u:secret@db/d?sslmode=', 'must be one of disable, allow'],
    ['postgres://u:secret@db/d?sslmode', 'no value for sslmode'],
    ['postgres://u:secret@db/d?sslmode=require&sslmode=disable', 'gives sslmode twice'],
    ['postgres://u:secret@db/d?sslnegotiation=direct', 'direct only with sslmode'],
    ['postgres://u:secret@db/d?options=-c%20search_path%3Dsecret', 'The options of DATABASE_URL must be empty'],
    ['postgres://u:secret@db/d?schema=secret', 'The schema of DATABASE_URL must be public'],
    ['postgres://u:secret@db/d?search_path=secret', 'The search_path of DATABASE_URL must be public'],
    ['postgres://u:secret@db/d?client_encoding=latin1', 'must be utf8'],
    ['postgres://u:secret@db/d?target_session_attrs=standby', 'writes to the primary'],
    ['postgres://u:secret@db/d?gssencmode=require', 'encrypts by TLS'],
  ] as const) {
    let message = ''
    try {
      readDatabaseUrl(url)
    } catch (error) {
      expect(error).toBeInstanceOf(UserError)
      message = (error as Error).message
    }
    expect([url, message]).toEqual([url, expect.stringContaining(said)])
    expect(message).toMatch(/^(The \w+ of )?DATABASE_URL [^\n]+\.$/)
    expect(message).not.toContain('secret')
  }
})

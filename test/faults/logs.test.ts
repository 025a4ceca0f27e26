import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { issueToken } from '../../src/applications/tokens/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import { Client } from '../kit/client.ts'
import { databaseIn, embeddedConnection, postmasterPid } from '../kit/database.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { deviceBody, newSerial, siteBody } from '../kit/records.ts'
import { waitUntil } from '../kit/waits.ts'

const place = ownWorkplace()

/** Phone numbers that occur nowhere else. */
const phones = ['13987654321', '4008123999']

test('the logs of a busy and troubled run hold request ids, and no secret, token, operator key or full phone number', async () => {
  const dataDir = place.preparedFolder()
  const service = await place.startService({
    dataDir,
    env: { FORECOURT_LOG_LEVEL: 'debug', FORECOURT_STATEMENT_TIMEOUT_MS: '3000' },
  })
  const { password } = embeddedConnection(dataDir)
  const client = new Client(service)
  const requestIds: string[] = []
  /** Each secret with a description, so that a failure can say what was logged without repeating the secret. */
  const secrets: [what: string, secret: string][] = [
    ['the operator key', service.operatorKey],
    ['the database password', password],
    ['a contact’s phone', phones[0] as string],
    ['a customer service phone', phones[1] as string],
  ]
  const remember = (what: string, secret: unknown) => {
    expect(typeof secret, `${what} was given`).toBe('string')
    secrets.push([what, secret as string])
  }
  const noted = async <T extends { headers: Headers }>(answer: Promise<T>): Promise<T> => {
    const { headers } = await answer
    requestIds.push(headers.get('x-request-id') as string)
    return answer
  }
  const config = { operatorName: 'Test operator', callbackUrl: 'https://callbacks.example.com/forecourt' }

  async function life(index: number): Promise<void> {
    const created = await noted(
      client.operate('createApplication', { appName: `app ${index}`, thirdPartyConfig: config }),
    )
    const { appId, appSecret, thirdPartyConfig } = created.data
    remember('an application’s secret', appSecret)
    remember('a callback secret', thirdPartyConfig?.callbackSecret)
    const credentials = { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret }
    const { data } = await noted(client.call('issueToken', credentials))
    const token = data.accessToken
    remember('an access token', token)
    const basic = Buffer.from(`${appId}:${appSecret}`).toString('base64')
    remember('a Basic header', basic)
    const byForm = await noted(
      client.send<unknown>(issueToken.path, {
        method: 'POST',
        headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
        body: 'grant_type=client_credentials',
      }),
    )
    remember('a token by Basic', (byForm as typeof byForm & { access_token: string }).access_token)
    const wrong = newSerial('wrong-secret')
    remember('a wrong secret', wrong)
    await noted(client.call('issueToken', { ...credentials, client_secret: wrong }))
    await noted(client.call('saveThirdPartyConfig', { appId, ...config }, { token }))
    const site = siteBody(appId, { contactsPhone: phones[0], customerServicePhone: phones[1] })
    const keyed = { 'idempotency-key': newSerial('key'), 'x-request-id': newSerial('request') }
    await Promise.all([
      noted(client.call('saveSite', site, { token, headers: keyed })),
      noted(client.call('saveSite', { ...site, siteName: 'poison' }, { token })),
      noted(client.call('saveSite', { ...site, businessStartTime: 'late' }, { token })),
      noted(client.call('saveSite', `{"contactsPhone":"${phones[0]}"`, { token })),
      noted(client.call('createDevice', deviceBody(appId), { token })),
      noted(client.call('createDevice', deviceBody(appId, { tag: phones[0], deviceName: '' }), { token })),
      noted(
        client.send(`/no/such/path?token=${token}&phone=${phones[0]}`, {
          headers: { authorization: `Bearer ${token}` },
        }),
      ),
      noted(client.send(`${saveSite.path}?access_token=${token}`, { headers: { authorization: `Bearer x${token}` } })),
    ])
    const rotated = await noted(client.operate('rotateApplicationSecret', { appId }))
    remember('a rotated secret', rotated.data.appSecret)
    await noted(client.call('revokeToken', { client_id: appId, client_secret: rotated.data.appSecret, token }))
    await noted(client.operate('freezeApplication', { appId, reason: 'test' }))
  }

  // PostgreSQL refuses a row by a constraint that the service does not know, and its error message contains the row.
  await databaseIn(dataDir).sql`alter table site add check (site_name <> 'poison')`
  await Promise.all(Array.from({ length: 8 }, (_, index) => life(index)))
  // Kills the database while requests are running.
  const last = await client.operate('createApplication', { appName: 'last', thirdPartyConfig: config })
  const { appId, appSecret } = last.data
  remember('the last secret', appSecret)
  const issued = await client.call('issueToken', {
    grant_type: 'client_credentials',
    client_id: appId,
    client_secret: appSecret,
  })
  const token = issued.data.accessToken
  remember('the last token', token)
  const save = () =>
    client.call('saveSite', siteBody(appId, { contactsPhone: phones[0], customerServicePhone: phones[1] }), { token })
  let running = true
  const statuses = new Set<number>()
  const writers = Array.from({ length: 16 }, async () => {
    while (running) statuses.add((await noted(save())).status)
  })
  await waitUntil(() => statuses.has(200))
  process.kill(postmasterPid(dataDir), 'SIGKILL')
  await waitUntil(() => statuses.has(503))
  running = false
  await Promise.all(writers)
  await waitUntil(async () => (await save()).status === 200)
  expect(await service.stop()).toBe(0)

  const log = service.stderr()
  const entries = log
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const told = new Set(entries.map((entry) => entry.requestId))
  expect(requestIds.filter((id) => !told.has(id))).toEqual([])
  // The faults have in fact been logged.
  expect(entries.filter((entry) => entry.msg === 'internal error').length).toBeGreaterThanOrEqual(8)
  expect(entries.filter((entry) => (entry.level as number) >= 40).length).toBeGreaterThan(8)

  const serverLog = join(embeddedConnection(dataDir).cluster, 'server.log')
  const logs = {
    'standard error': log,
    'the database’s log': existsSync(serverLog) ? readFileSync(serverLog, 'utf8') : '',
  }
  for (const [name, text] of Object.entries(logs)) {
    const leaked = secrets.filter(([, secret]) => text.includes(secret)).map(([what]) => what)
    const where = text.split('\n').find((line) => secrets.some(([, secret]) => line.includes(secret)))
    expect([...new Set(leaked)], `in ${name}: ${where?.slice(0, 600)}`).toEqual([])
  }
  expect(logs['the database’s log']).not.toBe('')
})

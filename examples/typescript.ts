// Token, site, device, state, feed, and a receiver of callbacks: with the SDK, on Bun, Node 22.18 or Deno.
// FORECOURT_URL, APP_ID and APP_SECRET say where and who; with PORT set it receives callbacks there until it has one.
import { createServer } from 'node:http'
import { Forecourt, type ForecourtError, verifyCallback } from 'forecourt-sdk'

const {
  FORECOURT_URL: baseUrl = 'http://127.0.0.1:8080',
  APP_ID: appId = '',
  APP_SECRET: appSecret = '',
  PORT,
} = process.env
// The token is fetched and renewed, and what is worth it is retried under one key.
const forecourt = new Forecourt({ baseUrl, appId, appSecret })
const place = {
  provinceCode: '360000',
  cityCode: '360100',
  districtCode: '360102',
  coordinates: '115.899918,28.676493',
}

const site = await forecourt.saveSite(
  {
    appId,
    siteName: 'Riverside charging park',
    contacts: 'Wang Fang',
    contactsPhone: '13800000000',
    customerServicePhone: '4000000000',
    businessWeekDay: 'Monday to Sunday',
    businessStartTime: '00:00:00',
    businessClosingTime: '24:00:00',
    ...place,
    provinceName: '江西省',
    cityName: '南昌市',
    districtName: '东湖区',
  },
  { idempotencyKey: `example-site-ts-${appId}` },
)
console.log('site', site.id)

const deviceNo = `TS-${appId}`
await forecourt
  .createDevice({ appId, deviceNo, deviceName: 'East gate barrier', ...place })
  .catch((error: ForecourtError) => {
    // It is ours already: an earlier run made it.
    if (error.code !== 20017) throw error
  })
console.log('device', deviceNo)
await forecourt.reportDeviceState({ deviceNo, runStatus: 1, batteryEnergy: '87%' })

// In a program: remember the last id, and begin behind it.
for await (const { type } of forecourt.pageEvents.all({ afterId: 0 })) console.log('event', type)

if (PORT !== undefined) {
  const received = Promise.withResolvers<void>()
  let secret = ''
  const receiver = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    try {
      const event = await verifyCallback({ headers: request.headers, body: Buffer.concat(pieces), secrets: [secret] })
      response.writeHead(204).end()
      console.log('callback', event.type)
      received.resolve()
    } catch {
      response.writeHead(401).end()
    }
  })
  await new Promise<void>((resolve) => receiver.listen(Number(PORT), '127.0.0.1', resolve))
  const config = {
    appId,
    operatorName: 'Greenway charging',
    callbackUrl: `http://127.0.0.1:${PORT}/`,
    callbackEvents: ['site.created' as const],
  }
  await forecourt.saveThirdPartyConfig(config)
  // The secret is shown when it is made; a new one is good from now on.
  secret = String((await forecourt.rotateCallbackSecret({ appId })).callbackSecret)
  await forecourt.testDelivery({ appId })
  await received.promise
  receiver.close()
}

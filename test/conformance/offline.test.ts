import { expect, test } from 'bun:test'
import { deviceBody, newApplication, newSerial, takeOffline } from '../kit/records.ts'
import { client, createDeviceOf, expectRefusal, expectSuccess, succeed } from './support.ts'

test('createDevice of an offline application is refused, also by an operator, and binds nothing', async () => {
  const [offline, other] = await Promise.all([newApplication(client), newApplication(client)])
  const [first, second] = [newSerial(), newSerial()]
  await takeOffline(client, offline.appId)
  for (const deviceNo of [first, second]) {
    const answer = await createDeviceOf(offline, { deviceNo })
    expectRefusal(answer, 'applicationOffline')
    expect(answer.data).toBeNull()
  }
  expectRefusal(await client.operate('createDevice', deviceBody(offline.appId)), 'applicationOffline')
  expectSuccess(await createDeviceOf(other, { deviceNo: first }))
  await succeed('takeApplicationOnline', { appId: offline.appId })
  expectSuccess(await createDeviceOf(offline, { deviceNo: second }))
})

test('an offline application stops no other application’s devices, also not of a request beside it', async () => {
  const [offline, online] = await Promise.all([newApplication(client), newApplication(client)])
  await takeOffline(client, offline.appId)
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => createDeviceOf(index % 2 === 0 ? offline : online)),
  )
  answers.forEach((answer, index) => {
    if (index % 2 === 0) expectRefusal(answer, 'applicationOffline')
    else expectSuccess(answer)
  })
})

test('once offline has answered, no device is created, and no request that was waiting slips through', async () => {
  for (let round = 0; round < 5; round++) {
    const application = await newApplication(client)
    const { appId } = application
    const early = Array.from({ length: 32 }, () => newSerial())
    const waiting = early.map((deviceNo) => createDeviceOf(application, { deviceNo }))
    await takeOffline(client, appId)
    const late = await Promise.all(Array.from({ length: 8 }, () => createDeviceOf(application)))
    for (const answer of late) expectRefusal(answer, 'applicationOffline')

    // Waiting creates end as created or refused, and a refused serial is bound to no application.
    const refused: string[] = []
    for (const [index, answer] of (await Promise.all(waiting)).entries()) {
      if (answer.code === 0) expectSuccess(answer)
      else {
        expectRefusal(answer, 'applicationOffline')
        refused.push(early[index] as string)
      }
    }
    const other = await newApplication(client)
    for (const deviceNo of refused) expectSuccess(await createDeviceOf(other, { deviceNo }))
  }
})

test('taking an application offline answers quickly while its devices are being created', async () => {
  const application = await newApplication(client)
  let stop = false
  const writers = Array.from({ length: 16 }, async () => {
    while (!stop) await createDeviceOf(application)
  })
  await Bun.sleep(100)
  const startedAt = performance.now()
  await takeOffline(client, application.appId)
  const elapsed = performance.now() - startedAt
  stop = true
  await Promise.all(writers)
  // The limit is far above the usual time: it fails only if creates can delay this change for ever.
  expect(elapsed).toBeLessThan(5000)
})

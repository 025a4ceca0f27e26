import { expect, test } from 'bun:test'
import { saveSite } from '../../src/sites/contract.ts'
import { newApplication, siteBody } from '../harness.ts'
import { client, expectFaults, expectSuccess, raw, saveSiteOf, withRaw } from './support.ts'
import { neverIntegers, neverText, notGiven, storedAsSent, type TextRule } from './texts.ts'

/** The limits of contract §2. */
const textFields: Record<string, TextRule & { required: boolean }> = {
  siteName: { max: 64, required: true },
  contacts: { max: 64, required: true },
  contactsPhone: { max: 32, required: true },
  customerServicePhone: { max: 32, required: true },
  businessWeekDay: { max: 128, required: true },
  provinceCode: { max: 12, required: true },
  provinceName: { max: 64, required: true },
  cityCode: { max: 12, required: true },
  cityName: { max: 64, required: true },
  districtCode: { max: 12, required: true },
  districtName: { max: 64, required: true },
  sitePictureUrl: { max: 2048, required: false },
  ipcIds: { max: 1024, required: false },
  detailAddress: { max: 255, required: false },
}

for (const [field, rule] of Object.entries(textFields)) {
  test(`saveSite stores a ${field} of 1 to ${rule.max} characters exactly as it is sent`, async () => {
    const application = await newApplication(client)
    const sent = storedAsSent(rule)
    const sites = await Promise.all(sent.map((value) => saveSiteOf(application, { [field]: value })))
    const stored = sites.map((answer) => expectSuccess(answer)[field as 'siteName'])
    expect(stored).toEqual(sent)
  })

  test(`saveSite refuses a ${field} of ${rule.max + 1} characters, with control characters or of another type`, async () => {
    const application = await newApplication(client)
    const answers = await Promise.all(neverText(rule).map((value) => saveSiteOf(application, { [field]: value })))
    for (const answer of answers) expectFaults(answer, [field])
  })

  if (rule.required) {
    test(`saveSite refuses a ${field} that is empty or only white space`, async () => {
      const application = await newApplication(client)
      const answers = await Promise.all(notGiven.map((value) => saveSiteOf(application, { [field]: value })))
      for (const answer of answers) expectFaults(answer, [field])
    })
  }
}

for (const field of ['fastChargeBillRuleId', 'rushingBillRuleId', 'placeholderBillRuleId']) {
  test(`saveSite takes only integers from 0 to 2^53 − 1 as ${field}`, async () => {
    const { appId, token } = await newApplication(client)
    const body = siteBody(appId, { [field]: raw })
    for (const written of neverIntegers) {
      expectFaults(await client.call(saveSite, withRaw(body, written), { token }), [field])
    }
    for (const written of ['0', '9007199254740991']) {
      expectFaults(await client.call(saveSite, withRaw(body, written), { token }), [field], 'billingRuleNotFound')
    }
  })
}

const times = ['00:00:00', '00:00:01', '09:59:59', '12:00:00', '19:30:30', '20:00:00', '23:59:59']
const neverTimes = [
  '24:00:01',
  '25:00:00',
  '23:60:00',
  '23:59:60',
  '8:00:00',
  '08:00',
  '08:00:00.0',
  '080000',
  ' 08:00:00',
  '08:00:00 ',
  '08:00:00\n',
  '08：00：00',
  '０８:00:00',
  '-1:00:00',
  '+8:00:00',
  '08:00:00Z',
  '08:0a:00',
  'x',
  80000,
  true,
  {},
  [],
]

for (const field of ['businessStartTime', 'businessClosingTime'] as const) {
  test(`saveSite takes a ${field} from 00:00:00 to 23:59:59`, async () => {
    const application = await newApplication(client)
    for (const time of times) {
      expect(expectSuccess(await saveSiteOf(application, { [field]: time }))[field]).toBe(time)
    }
  })

  test(`saveSite refuses a ${field} that is not HH:mm:ss`, async () => {
    const application = await newApplication(client)
    const refused = [...neverTimes, ...notGiven]
    const answers = await Promise.all(refused.map((time) => saveSiteOf(application, { [field]: time })))
    for (const answer of answers) expectFaults(answer, [field])
  })
}

test('saveSite takes 24:00:00 as a closing time', async () => {
  const application = await newApplication(client)
  const site = expectSuccess(await saveSiteOf(application, { businessClosingTime: '24:00:00' }))
  expect(site.businessClosingTime).toBe('24:00:00')
})

test('saveSite refuses 24:00:00 as an opening time', async () => {
  const application = await newApplication(client)
  expectFaults(await saveSiteOf(application, { businessStartTime: '24:00:00' }), ['businessStartTime'])
})

test('saveSite takes a closing time earlier than the opening time: past midnight', async () => {
  const application = await newApplication(client)
  const hours = { businessStartTime: '22:00:00', businessClosingTime: '06:00:00' }
  expect(expectSuccess(await saveSiteOf(application, hours))).toMatchObject(hours)
  const allDay = { businessStartTime: '08:00:00', businessClosingTime: '08:00:00' }
  expect(expectSuccess(await saveSiteOf(application, allDay))).toMatchObject(allDay)
})

test('saveSite tells every faulty field at once, whatever is wrong with each', async () => {
  const { appId, token } = await newApplication(client)
  const body = siteBody(appId, {
    siteName: 'x'.repeat(65),
    contacts: undefined,
    contactsPhone: 13800000000,
    customerServicePhone: null,
    businessWeekDay: ' ',
    businessStartTime: '24:00:00',
    businessClosingTime: '24:00:01',
    sitePictureUrl: 'a\tb',
    fastChargeBillRuleId: '12',
    rushingBillRuleId: 1.5,
    placeholderBillRuleId: -1,
    ipcIds: [17],
    provinceCode: 360000,
    provinceName: '\ud800',
    cityCode: '',
    cityName: '\0',
    districtCode: '1234567890123',
    districtName: {},
    detailAddress: true,
    coordinates: '28.676493,115.899918',
  })
  const { appId: _, ...faulty } = body
  expectFaults(await client.call(saveSite, body, { token }), Object.keys(faulty))
})

test('saveSite makes no site out of coercions: "12" is not 12 and 360000 is not "360000"', async () => {
  const application = await newApplication(client)
  const answer = await saveSiteOf(application, { fastChargeBillRuleId: '12', provinceCode: 360000 })
  expectFaults(answer, ['fastChargeBillRuleId', 'provinceCode'])
})

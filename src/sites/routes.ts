import { GroupCommit } from '../database/group-commit.ts'
import { requireActingFor } from '../http/authenticate.ts'
import { type Handler, handle, type Idempotency, JsonText } from '../http/serve.ts'
import { laneOptions, type Platform, showQueue } from '../platform.ts'
import { Refusal } from '../refusals.ts'
import { given, readCoordinates } from '../values.ts'
import { type SiteRecord, type SiteRegistration, saveSite } from './contract.ts'
import { type RuleFault, type SiteInsert, type SiteOutcome, saveSites } from './store.ts'

interface Submission {
  body: SiteRegistration
  actor: string
  idempotency: Idempotency | undefined
}

const fieldOfRule = {
  fast: 'fastChargeBillRuleId',
  slow: 'rushingBillRuleId',
  occupancy: 'placeholderBillRuleId',
} as const

export function siteRoutes(platform: Platform): Handler[] {
  const lane: GroupCommit<Submission, SiteOutcome> = new GroupCommit({
    ...laneOptions(platform, 'sites'),
    claims: ({ body, idempotency }) => (idempotency === undefined ? [] : [`${body.appId} ${idempotency.key}`]),
    write(submissions) {
      const now = new Date()
      const createTime = platform.showMoment(now)
      const sites = submissions.map((submission) => composeSite(submission, createTime))
      return platform.writer.run((sql) => saveSites(sql, sites, now))
    },
  })

  showQueue(platform, 'sites', lane)

  return [
    handle(saveSite, async ({ caller, body, idempotency }) => {
      const actor = requireActingFor(caller, body.appId)
      const outcome = await lane.submit({ body, actor, idempotency })
      if ('record' in outcome) return new JsonText(outcome.record)
      if ('refusal' in outcome) throw new Refusal(outcome.refusal)
      throw ruleRefusal(outcome.ruleFaults)
    }),
  ]
}

/** A rule that does not exist comes before one of the wrong type; every field that shares the refusal is named. */
function ruleRefusal(faults: RuleFault[]): Refusal {
  const refusal = faults.some((fault) => fault.refusal === 'billingRuleNotFound')
    ? 'billingRuleNotFound'
    : 'billingRuleWrongType'
  const reason =
    refusal === 'billingRuleNotFound'
      ? { en: 'is not a billing rule of this application', zh: '不是该应用的计费规则' }
      : { en: 'is a billing rule of another type', zh: '计费规则类型不符' }
  return new Refusal(refusal, {
    errors: faults
      .filter((fault) => fault.refusal === refusal)
      .map((fault) => ({ field: fieldOfRule[fault.rule], reason })),
  })
}

function composeSite({ body, actor, idempotency }: Submission, createTime: string): SiteInsert {
  const coordinates = given(body.coordinates)
  // The document's order of members (§2.2); the id is the database's, so the text begins behind it.
  const record: Omit<SiteRecord, 'id'> = {
    appId: body.appId,
    siteName: body.siteName,
    contacts: body.contacts,
    contactsPhone: body.contactsPhone,
    customerServicePhone: body.customerServicePhone,
    businessWeekDay: body.businessWeekDay,
    businessStartTime: body.businessStartTime,
    businessClosingTime: body.businessClosingTime,
    sitePictureUrl: given(body.sitePictureUrl),
    fastChargeBillRuleId: given(body.fastChargeBillRuleId),
    rushingBillRuleId: given(body.rushingBillRuleId),
    placeholderBillRuleId: given(body.placeholderBillRuleId),
    ipcIds: given(body.ipcIds),
    createTime,
    provinceCode: body.provinceCode,
    provinceName: body.provinceName,
    cityCode: body.cityCode,
    cityName: body.cityName,
    districtCode: body.districtCode,
    districtName: body.districtName,
    detailAddress: given(body.detailAddress),
    ...readCoordinates(coordinates),
    coordinates,
  }
  return {
    ...record,
    // The document's names mislead here: "rushing" is slow charging, "placeholder" is occupancy.
    fastRuleId: record.fastChargeBillRuleId,
    slowRuleId: record.rushingBillRuleId,
    occupancyRuleId: record.placeholderBillRuleId,
    actor,
    idempotency,
    recordAfterId: `,${JSON.stringify(record).slice(1)}`,
  }
}

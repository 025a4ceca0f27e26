import Type, { type TObject, type TProperties, type TSchema, type TUnsafe } from 'typebox'
import type { Reason } from './refusals.ts'

// Contract §2. Patterns exclude all that a string may not hold, so that check, OpenAPI document and reasons agree. They
// run with the flag `u`: they count code points, and \p{Cs} matches lone surrogates only.
const storable = String.raw`[^\p{Cc}\p{Cs}]`

/** In characters; forms take no more either. */
export const lengths = {
  ...{ id: 64, name: 64, serial: 64, phone: 32, divisionCode: 12, coordinates: 64 },
  ...{ address: 255, reason: 255, tag: 512, url: 2048 },
} as const

export const reasonKey = 'x-reason'

/** What the OpenAPI document shows, if the service checks in another way. */
export const shownKey = 'x-shown'

/** The OpenAPI document shows a named schema once, for all its uses. */
export const nameKey = 'x-name'
export const namedSchemas = new Map<string, TSchema>()

export function named<Schema extends TSchema>(name: string, schema: Schema): Schema {
  if ((namedSchemas.get(name) ?? schema) !== schema) throw new Error(`two schemas are named ${name}`)
  namedSchemas.set(name, schema)
  return Object.assign(schema, { [nameKey]: name })
}

export const nameOf = (schema: TSchema & { [nameKey]?: string }) => schema[nameKey]

/** The OpenAPI document shows it as the record joined with these members. */
export function extended<Base extends TProperties, More extends TProperties>(base: TObject<Base>, more: More) {
  const members: Omit<Base, keyof More> & More = { ...base.properties, ...more }
  return Type.Object(members, { [shownKey]: Type.Intersect([base, Type.Object(more)]) })
}

export function withExample<Schema extends TSchema>(schema: Schema, example: string): Schema {
  return Object.assign(schema, { examples: [example] })
}

export function described<Schema extends TSchema>(schema: Schema, description: string): Schema {
  return Object.create(Object.getPrototypeOf(schema), {
    ...Object.getOwnPropertyDescriptors(schema),
    description: { value: description, enumerable: true, configurable: true, writable: true },
  })
}

// For other tools, which have no flag `u`, no look-ahead and no \p{…}; control characters are excluded in words.
const shownText = (max: number) => ({ type: 'string', minLength: 1, maxLength: max, pattern: String.raw`\S` })
const shownFreeText = (max: number) => ({ type: 'string', maxLength: max })

export const onceKey = 'x-shown-once'

export function text(max: number, description?: string) {
  return Type.String({
    pattern: String.raw`^(?=[\s\S]*\S)${storable}{1,${max}}$`,
    [shownKey]: shownText(max),
    ...(description === undefined ? {} : { description }),
    [reasonKey]: {
      en: `must be a string of 1 to ${max} characters, not only white space, without control characters or invalid Unicode`,
      zh: `必须是 1 至 ${max} 个字符的字符串，不能全为空白，且不含控制字符或无效的 Unicode 字符`,
    } satisfies Reason,
  })
}

/** White space alone is a valid value. */
export function freeText(max: number, description?: string) {
  return Type.String({
    pattern: `^${storable}{1,${max}}$`,
    [shownKey]: shownFreeText(max),
    ...(description === undefined ? {} : { description }),
    [reasonKey]: {
      en: `must be a string of at most ${max} characters, without control characters or invalid Unicode`,
      zh: `必须是最多 ${max} 个字符的字符串，且不含控制字符或无效的 Unicode 字符`,
    } satisfies Reason,
  })
}

/** Absent, `null` and `""` all mean "not given" (contract §2). */
export function optional<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(
    Type.Union([schema, Type.Null(), Type.Literal('')], {
      [reasonKey]: (schema as Record<string, unknown>)[reasonKey],
    }),
  )
}

export function given<Value>(value: Value | null | undefined | ''): Exclude<Value, ''> | null {
  return value === undefined || value === '' ? null : (value as Exclude<Value, ''> | null)
}

export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** Stored nowhere in plain text: only the response to its creator has it. */
export function shownOnce(description: string) {
  return nullable(Type.String({ description, [onceKey]: true }))
}

/** No stored string has control characters or lone surrogates, so only quotes and backslashes need escaping. */
export function quoted(value: string | null): string {
  if (value === null) return 'null'
  return value.includes('"') || value.includes('\\') ? JSON.stringify(value) : `"${value}"`
}

export function integer(minimum = 0, maximum = Number.MAX_SAFE_INTEGER) {
  return Type.Integer({
    minimum,
    maximum,
    [reasonKey]: {
      en: `must be an integer from ${minimum} to ${maximum}`,
      zh: `必须是 ${minimum} 至 ${maximum} 的整数`,
    } satisfies Reason,
  })
}

export function oneOf<const Values extends number[]>(...values: Values) {
  return choice<Values[number]>(values)
}

export function textOneOf<const Text extends string>(texts: readonly Text[], description?: string) {
  return choice(texts, description)
}

/** A union made from a list loses its members' types, so they are declared here. */
function choice<Value extends number | string>(values: readonly Value[], description?: string) {
  return Type.Union(
    values.map((value) => Type.Literal(value)),
    {
      ...(description === undefined ? {} : { description }),
      [reasonKey]: {
        en: `must be one of ${values.join(', ')}`,
        zh: `必须是 ${values.join('、')} 之一`,
      } satisfies Reason,
    },
  ) as TSchema as TUnsafe<Value>
}

export const appId = named('AppId', withExample(text(lengths.id, 'The application’s ID.'), 'eb5ffaabb88d8c09f000'))
export const ownAppId = named(
  'OwnAppId',
  optional(described(appId, 'The application’s ID. Required for operators; applications can omit it.')),
)
export const anyAppId = optional(
  described(
    appId,
    'The application’s ID. Applications can omit it. If operators omit it, the operation covers all applications; for developers, all of their applications.',
  ),
)
export const name = named('Name', text(lengths.name, 'A name, as it was given.'))
export const phone = named('Phone', text(lengths.phone, 'A telephone number, as it was given.'))
export const divisionCode = named(
  'DivisionCode',
  withExample(text(lengths.divisionCode, 'The code of a national region (GB/T 2260).'), '360102'),
)
export const address = named(
  'Address',
  withExample(freeText(lengths.address, 'The address below the district: street and number.'), 'No. 1 Yangming Road'),
)
export const tag = named(
  'Tag',
  withExample(
    freeText(lengths.tag, 'Free text for the integrator’s own use, such as an ID in their system.'),
    'lane=1',
  ),
)
export const reasonText = named('ReasonText', text(lengths.reason, 'The reason for the action; stored with the event.'))

/** Runs with the flag `u`. */
export const serialPattern = String.raw`^[^\s\p{Cc}\p{Cs}]{1,${lengths.serial}}$`

const serial = Type.String({
  pattern: serialPattern,
  [shownKey]: { type: 'string', minLength: 1, maxLength: lengths.serial, pattern: String.raw`^\S+$` },
  description: 'A device’s serial number, as printed on the device. A serial number has one owner at a time.',
  [reasonKey]: {
    en: `must be a string of 1 to ${lengths.serial} characters without white space, control characters or invalid Unicode`,
    zh: `必须是 1 至 ${lengths.serial} 个字符的字符串，不含空白、控制字符或无效的 Unicode 字符`,
  } satisfies Reason,
})
export const deviceNo = named('DeviceNo', withExample(serial, 'FC-GATE-0001'))

const serialInList = String.raw`[^\s\p{Cc}\p{Cs},]{1,${lengths.serial}}`

const listedSerials = 100

export const deviceNos = Type.String({
  pattern: `^${serialInList}(,${serialInList}){0,${listedSerials - 1}}$`,
  [shownKey]: { type: 'string', pattern: String.raw`^[^\s,]+(,[^\s,]+)*$` },
  description: `1 to ${listedSerials} serial numbers, separated by commas. Serial numbers that contain a comma can’t be used here.`,
  [reasonKey]: {
    en: `must be 1 to ${listedSerials} serial numbers, separated by commas, each of 1 to ${lengths.serial} characters without white space, control characters or invalid Unicode`,
    zh: `必须是 1 至 ${listedSerials} 个以逗号分隔的序列号，每个 1 至 ${lengths.serial} 个字符，不含空白、控制字符或无效的 Unicode 字符`,
  } satisfies Reason,
})

const listedIds = 100

/** RE2, which some clients use, refuses repeats that multiply to more than 1,000. */
export const listOfIds = (most: number) => ({
  pattern: `^[1-9]\\d{0,15}(,[1-9]\\d{0,15}){0,${most - 1}}$`,
  [shownKey]: { type: 'string', maxLength: most * 17 - 1, pattern: String.raw`^[1-9]\d{0,15}(,[1-9]\d{0,15})*$` },
})

export const ids = (description: string) =>
  Type.String({
    ...listOfIds(listedIds),
    description,
    examples: ['1'],
    [reasonKey]: {
      en: `must be 1 to ${listedIds} IDs, separated by commas`,
      zh: `必须是 1 至 ${listedIds} 个 id，以逗号分隔`,
    } satisfies Reason,
  })

const hourMinuteSecond = String.raw`([01]\d|2[0-3]):[0-5]\d:[0-5]\d`

export const timeOfDayPattern = `^${hourMinuteSecond}$`

const hourOfDay = Type.String({
  pattern: timeOfDayPattern,
  description: 'A time of day, HH:mm:ss, in the service’s time zone.',
  [reasonKey]: {
    en: 'must be a time of day, HH:mm:ss, from 00:00:00 to 23:59:59',
    zh: '必须是 HH:mm:ss 格式的时间，00:00:00 至 23:59:59',
  } satisfies Reason,
})
export const timeOfDay = named('TimeOfDay', withExample(hourOfDay, '08:00:00'))

export const closingTimePattern = `^(${hourMinuteSecond}|24:00:00)$`

export const closingTime = Type.String({
  pattern: closingTimePattern,
  description: 'Closing time, HH:mm:ss or 24:00:00. A time before the opening time means the next day.',
  [reasonKey]: {
    en: 'must be a time of day, HH:mm:ss, from 00:00:00 to 24:00:00',
    zh: '必须是 HH:mm:ss 格式的时间，00:00:00 至 24:00:00',
  } satisfies Reason,
})

export const moneyPattern = String.raw`^(0|[1-9]\d{0,8})(\.\d{1,4})?$`

const yuan = Type.String({
  pattern: moneyPattern,
  description: 'An amount in yuan: a decimal string with up to 4 decimals, not a float. Stored exactly as sent.',
  [reasonKey]: {
    en: 'must be a decimal string from "0" to "999999999.9999" with up to 4 decimals',
    zh: '必须是十进制字符串，"0" 至 "999999999.9999"，最多 4 位小数',
  } satisfies Reason,
})
export const money = named('Money', withExample(yuan, '0.65'))

export const moment = named(
  'Moment',
  Type.String({
    description: 'yyyy-MM-dd HH:mm:ss in the `timeZone` from `getApplication` (Asia/Shanghai by default).',
    examples: ['2026-11-22 08:00:00'],
  }),
)

// The 1st to 28th of every month, the 29th and 30th except in February, and the 31st of seven months.
const dayOfYear = String.raw`((0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)`
const leapYear = String.raw`((19|2\d)(0[48]|[2468][048]|[13579][26])|2[048]00)`

const calendarDay = String.raw`((19|2\d)\d\d-${dayOfYear}|${leapYear}-02-29)`
const zoneOffset = String.raw`([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)`

const ofDay = String.raw`[Tt]${hourMinuteSecond}(\.\d{1,9})?${zoneOffset}`

export const momentWords =
  'yyyy-MM-dd HH:mm:ss in the service’s time zone, or RFC 3339; in a query + is written as %2B.'

const writtenMoment = Type.String({
  [shownKey]: {
    type: 'string',
    pattern: String.raw`^\d{4}-\d\d-\d\d[ Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)?$`,
  },
  pattern: `^${calendarDay}( ${hourMinuteSecond}|${ofDay})$`,
  description: momentWords,
  [reasonKey]: {
    en: 'must be a time, yyyy-MM-dd HH:mm:ss or RFC 3339 (in a query with %2B for +), between the years 1900 and 2999',
    zh: '必须是 yyyy-MM-dd HH:mm:ss 格式或 RFC 3339 格式的时间（在查询串中 + 写作 %2B），1900 至 2999 年',
  } satisfies Reason,
})

export const momentText = named('MomentText', writtenMoment)

export const instantText = Type.String({
  pattern: `^${calendarDay}${ofDay}$`,
  [shownKey]: { type: 'string', format: 'date-time' },
  description: 'An RFC 3339 time with an offset.',
  [reasonKey]: {
    en: 'must be a time in RFC 3339 with an offset, from the years 1900 to 2999',
    zh: '必须是带时区偏移的 RFC 3339 格式时间，1900 至 2999 年',
  } satisfies Reason,
})

/** Contract §1. */
export const FieldFaults = named(
  'FieldFaults',
  Type.Object({
    errors: Type.Array(
      named(
        'FieldFault',
        Type.Object({
          field: Type.String({ description: 'The path of the invalid field, such as devices[2].coordinates.' }),
          reason: Type.String({
            description: 'Why the field is not valid, in the language from `Accept-Language`.',
          }),
        }),
      ),
      { description: 'All invalid fields, up to 1000.' },
    ),
  }),
)

export const callbacksSwitch = Type.String({
  [shownKey]: named('CallbacksSwitch', textOneOf(['on', 'paused'], 'paused: no callbacks are sent.')),
})

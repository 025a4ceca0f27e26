import type { JobFailure } from '../../../src/bulk/jobs/failure/contract.ts'
import type { FindingCode, FindingRecord, RecordCode } from '../../../src/service/contract.ts'
import { attemptWords } from '../deliveries/failure-words.ts'
import { jobFailureWords } from '../imports/failure-words.ts'
import { defineTexts, type Language, useLanguage } from '../language/index.ts'
import { inBytes } from '../ui/bytes.ts'
import { grouped } from '../ui/number.ts'

/** A sentence for each code and, for faults, what to do (`…_todo`). */
const useTexts = defineTexts(
  {
    asRoot: 'The service runs as root.',
    asRoot_todo: 'Start it as a user of its own.',
    backup: 'The last backup is of {{takenAt}}, {{bytes}}.',
    backupFailed: 'The backup of {{failedAt}} failed.',
    backupFailed_reason: 'The backup of {{failedAt}} failed: {{failure}}',
    backupFailed_todo: 'Correct the reason, and take one: forecourt backup --to FOLDER --keep 14.',
    backupLate: 'The last backup is of {{takenAt}}: over 26 hours old.',
    backupLate_todo: 'See why the timer took none last night: forecourt backup --to FOLDER --keep 14.',
    backupMissing: 'No backup was ever taken.',
    backupMissing_todo: 'Take one each night, by a timer: forecourt backup --to FOLDER --keep 14.',
    backupNone: 'No backup was taken by forecourt backup. See that another program takes them.',
    callbacks: 'Callbacks are sent to {{count}} {{count:application|applications}}.',
    callbacksDead: 'Deliveries given up: {{count}}.',
    callbacksDead_todo: 'Replay them when their receivers answer again.',
    callbacksFailing: 'Receivers paused after failures: {{held}}; stopped by 410: {{stopped}}.',
    callbacksFailing_todo: 'See the deliveries, and ask the applications to mend their receivers.',
    callbacksPaused: 'Callbacks are paused by the settings, or since a restore.',
    callbacksPaused_todo: 'forecourt callbacks resume, when this is no copy of a database whose callbacks are sent.',
    certificate: 'The certificate of {{host}} lasts until {{endsAt}}.',
    certificateEnded: 'The certificate of {{host}} ended on {{endsAt}}.',
    certificateEnded_todo: 'Renew it at the proxy, and reload the proxy.',
    certificateEnds: 'The certificate of {{host}} ends in {{days}} {{days:day|days}}.',
    certificateEnds_todo: 'Renew it at the proxy, and reload the proxy.',
    certificateUnknown: 'The certificate of {{host}} cannot be seen from here.',
    clock: 'The clocks of this machine and of the database agree.',
    clockAhead: 'The database’s clock is {{seconds}} s ahead of this machine’s.',
    clockAhead_todo: 'Set both by the network (NTP).',
    clockBehind: 'The database’s clock is {{seconds}} s behind this machine’s.',
    clockBehind_todo: 'Set both by the network (NTP).',
    connections: 'Connections to the database: {{inUse}} in use of {{limit}}; {{needed}} are needed.',
    connectionsFew: 'Too few connections to the database: {{limit}}, and {{needed}} are needed.',
    connectionsFew_todo: 'Raise max_connections, or the limit of the user or database.',
    database: 'PostgreSQL {{version}} answers in {{roundTripMs}} ms.',
    disk: '{{freeBytes}} of {{sizeBytes}} are free on the database’s disk.',
    diskElsewhere: 'The database is elsewhere: watch its disk on its own machine.',
    diskFull: 'The database’s disk is nearly full: {{freeBytes}} of {{sizeBytes}} are free.',
    diskFull_todo: 'Make room at once: under {{boundBytes}} the database soon takes no writes.',
    diskFullSoon: 'The database’s disk is full in {{days}} {{days:day|days}}: {{freeBytes}} of {{sizeBytes}} are free.',
    diskFullSoon_todo: 'Make room, or keep events for fewer days.',
    diskLittle: 'Little room on the database’s disk: {{freeBytes}} of {{sizeBytes}} are free.',
    diskLittle_todo: 'Make room: there should be {{boundBytes}}.',
    durability: 'Acknowledged writes are on the disk (synchronous_commit = {{synchronousCommit}}).',
    durabilityOff: 'Acknowledged writes can be lost: {{settings}} is off.',
    durabilityOff_todo: 'Set it to on in postgresql.conf, and reload the server.',
    nodes: 'All nodes of the cluster answer.',
    nodesUnfit: 'A node of the cluster is away, or takes too few connections.',
    nodesUnfit_todo: 'forecourt doctor names it.',
    replication: 'Standbys: {{standbys}}; commits wait for {{synchronous}}.',
    replicationLost: 'Commits wait for a standby of “{{names}}”, and none is there.',
    replicationLost_todo: 'Start a standby, or take it out of synchronous_standby_names.',
    replicationNone: 'No standby: backups are the only other copy.',
    vacuumOff: 'Autovacuum is off: the tables bloat.',
    vacuumOff_todo: 'Set autovacuum = on in postgresql.conf.',
    workers: 'Processes that serve: {{serving}}.',
    workersMissing: '{{serving}} of {{wanted}} processes serve.',
    workersMissing_todo: 'See in the log why the others ended.',
    actFailed: 'Bulk act {{id}} failed at {{since}}',
    actFailed_reason: 'Bulk act {{id}} failed at {{since}}: {{reason}}',
    callbackDead: 'Dead callbacks: {{count}}',
    callbackFailing: 'Every attempt has failed since {{since}}: {{reason}}',
    callbackStopped: 'Stopped since {{since}}: the receiver answered 410',
    deviceFaulty: 'Faulty devices: {{count}}',
    importFailed: 'Import {{id}} failed at {{since}}',
    importFailed_reason: 'Import {{id}} failed at {{since}}: {{reason}}',
    siteUnreachable: 'No gate is online; faulty: {{count}}',
  } satisfies Record<FindingCode | RecordCode, string> & Record<string, string>,
  {
    asRoot: '服务以 root 身份运行。',
    asRoot_todo: '请用专门的用户启动。',
    backup: '最近一次备份：{{takenAt}}，{{bytes}}。',
    backupFailed: '{{failedAt}} 的备份失败。',
    backupFailed_reason: '{{failedAt}} 的备份失败：{{failure}}',
    backupFailed_todo: '解决上述问题后重新备份：forecourt backup --to FOLDER --keep 14。',
    backupLate: '最近一次备份是 {{takenAt}}，已超过 26 小时。',
    backupLate_todo: '检查昨夜的定时任务为何没有备份：forecourt backup --to FOLDER --keep 14。',
    backupMissing: '从未备份过。',
    backupMissing_todo: '请用定时任务每晚备份：forecourt backup --to FOLDER --keep 14。',
    backupNone: '未曾用 forecourt backup 备份过，请确认有其他程序在备份。',
    callbacks: '正在向 {{count}} 个应用发送回调。',
    callbacksDead: '已放弃的投递：{{count}}。',
    callbacksDead_todo: '接收方恢复后请重放。',
    callbacksFailing: '连续失败而暂缓投递的接收方：{{held}}；因 410 停止的：{{stopped}}。',
    callbacksFailing_todo: '查看回调投递，请应用方修复接收端。',
    callbacksPaused: '回调已暂停（由配置设定，或恢复备份后尚未继续）。',
    callbacksPaused_todo: '确认本库不是仍在发送回调的数据库的副本后，执行 forecourt callbacks resume。',
    certificate: '{{host}} 的证书有效期至 {{endsAt}}。',
    certificateEnded: '{{host}} 的证书已于 {{endsAt}} 到期。',
    certificateEnded_todo: '请在代理上更新证书并重新加载。',
    certificateEnds: '{{host}} 的证书将在 {{days}} 天后到期。',
    certificateEnds_todo: '请在代理上更新证书并重新加载。',
    certificateUnknown: '无法从本机看到 {{host}} 的证书。',
    clock: '本机与数据库的时钟一致。',
    clockAhead: '数据库的时钟比本机快 {{seconds}} 秒。',
    clockAhead_todo: '请用 NTP 校准两边的时钟。',
    clockBehind: '数据库的时钟比本机慢 {{seconds}} 秒。',
    clockBehind_todo: '请用 NTP 校准两边的时钟。',
    connections: '数据库连接：已用 {{inUse}}，上限 {{limit}}，需要 {{needed}}。',
    connectionsFew: '数据库连接不足：上限 {{limit}}，需要 {{needed}}。',
    connectionsFew_todo: '请调高 max_connections，或用户、数据库的连接上限。',
    database: 'PostgreSQL {{version}}，响应时间 {{roundTripMs}} 毫秒。',
    disk: '数据库磁盘剩余 {{freeBytes}}，共 {{sizeBytes}}。',
    diskElsewhere: '数据库在别处运行，其磁盘请在那里监控。',
    diskFull: '数据库磁盘即将写满：剩余 {{freeBytes}}，共 {{sizeBytes}}。',
    diskFull_todo: '请立即腾出空间：低于 {{boundBytes}} 时数据库很快将无法写入。',
    diskFullSoon: '数据库磁盘将在 {{days}} 天后写满：剩余 {{freeBytes}}，共 {{sizeBytes}}。',
    diskFullSoon_todo: '请腾出空间，或缩短事件的保留天数。',
    diskLittle: '数据库磁盘空间不多：剩余 {{freeBytes}}，共 {{sizeBytes}}。',
    diskLittle_todo: '请腾出空间：至少应有 {{boundBytes}}。',
    durability: '已确认的写入都已落盘（synchronous_commit = {{synchronousCommit}}）。',
    durabilityOff: '已确认的写入可能丢失：{{settings}} 已关闭。',
    durabilityOff_todo: '请在 postgresql.conf 中打开，并重新加载。',
    nodes: '集群的所有节点都有响应。',
    nodesUnfit: '集群有节点无响应，或可用连接太少。',
    nodesUnfit_todo: 'forecourt doctor 会指出是哪一个。',
    replication: '备库：{{standbys}} 个；提交等待其中 {{synchronous}} 个。',
    replicationLost: '提交要等待备库“{{names}}”，但没有一个在线。',
    replicationLost_todo: '请启动备库，或将其从 synchronous_standby_names 中去掉。',
    replicationNone: '没有备库：备份是唯一的另一份数据。',
    vacuumOff: '自动清理（autovacuum）已关闭，数据表会膨胀。',
    vacuumOff_todo: '请在 postgresql.conf 中设置 autovacuum = on。',
    workers: '提供服务的进程：{{serving}} 个。',
    workersMissing: '应有 {{wanted}} 个进程提供服务，现有 {{serving}} 个。',
    workersMissing_todo: '请在日志中查看其他进程结束的原因。',
    actFailed: '批量操作 {{id}} 于 {{since}} 失败',
    actFailed_reason: '批量操作 {{id}} 于 {{since}} 失败：{{reason}}',
    callbackDead: '失败的回调：{{count}}',
    callbackFailing: '自 {{since}} 起每次投递都失败：{{reason}}',
    callbackStopped: '自 {{since}} 起停止：接收方返回 410',
    deviceFaulty: '故障设备：{{count}}',
    importFailed: '导入 {{id}} 于 {{since}} 失败',
    importFailed_reason: '导入 {{id}} 于 {{since}} 失败：{{reason}}',
    siteUnreachable: '没有在线的出入口；故障：{{count}}',
  },
)

type Code = Parameters<ReturnType<typeof useTexts>>[0]

/** The values of a finding by their names. */
export const valuesOf = ({ values }: Pick<FindingRecord, 'values'>): Record<string, string> =>
  Object.fromEntries(values.map(({ name, value }) => [name, value]))

const isSize = (name: string) => /bytes$/i.test(name)
const isCount = (name: string) => ['count', 'held', 'stopped', 'limit', 'needed', 'inUse'].includes(name)

/** Why a callback or a job fails, in the reader's words. */
function reasonIn(finding: FindingRecord, reason: string, language: Language): string {
  if (finding.code === 'callbackFailing') return attemptWords(reason, language)
  if (finding.code !== 'importFailed' && finding.code !== 'actFailed') return reason
  const { id = '', why, place = null, code = null, count = null, cause = null } = valuesOf(finding)
  const kind = why as JobFailure['kind'] | undefined
  const failure = kind === undefined ? null : { kind, place, code: numberOf(code), count: numberOf(count), cause }
  const noun = finding.code === 'importFailed' ? 'import' : 'act'
  return jobFailureWords({ noun, id, failure, error: reason }, language)
}

const numberOf = (text: string | null) => (text === null ? null : Number(text))

/** Returns the functions that say a finding in words, and what to do about it. */
export function useSentences() {
  const t = useTexts()
  const language = useLanguage()
  const say = (key: string, finding: FindingRecord) => {
    const shown = finding.values.map(({ name, value }) => {
      if (name === 'reason') return [name, reasonIn(finding, value, language)]
      if (isSize(name)) return [name, inBytes(Number(value))]
      return [name, isCount(name) ? grouped(Number(value)) : value]
    })
    return t(key as Code, Object.fromEntries(shown))
  }
  return {
    sentence(finding: FindingRecord): string {
      const { reason, failure } = valuesOf(finding)
      const withReason = `${finding.code}_reason`
      const isTold = (reason ?? failure) !== undefined && t(withReason as Code) !== withReason
      return say(isTold ? withReason : finding.code, finding)
    },
    /** Empty where there is nothing to do. */
    todo(finding: FindingRecord): string {
      return finding.status === 'ok' ? '' : say(`${finding.code}_todo`, finding)
    },
  }
}

import type { Words } from './fill.ts'

// What `forecourt doctor`, the service page and the overview can find. `fill` puts values into the sentences.

interface FindingWords extends Words {
  /** The name that `doctor` prints. */
  check: string
  withReason?: Words
  todo?: Words
}

export const findingWords = {
  asRoot: {
    check: 'program',
    en: 'The service runs as root.',
    zh: '服务以 root 身份运行。',
    todo: { en: 'Run it as a dedicated user.', zh: '请用专门的用户启动。' },
  },
  backup: {
    check: 'backup',
    en: 'Last backup: {{takenAt}}, {{bytes}}.',
    zh: '最近一次备份：{{takenAt}}，{{bytes}}。',
  },
  backupFailed: {
    check: 'backup',
    en: 'The backup of {{failedAt}} failed.',
    zh: '{{failedAt}} 的备份失败。',
    withReason: { en: 'The backup of {{failedAt}} failed: {{failure}}', zh: '{{failedAt}} 的备份失败：{{failure}}' },
    todo: {
      en: 'Fix the cause and take a new one: forecourt backup --to FOLDER --keep 14.',
      zh: '解决上述问题后重新备份：forecourt backup --to FOLDER --keep 14。',
    },
  },
  backupLate: {
    check: 'backup',
    en: 'The last backup, from {{takenAt}}, is more than 26 hours old.',
    zh: '最近一次备份是 {{takenAt}}，已超过 26 小时。',
    todo: {
      en: 'Check why the nightly job didn’t run: forecourt backup --to FOLDER --keep 14.',
      zh: '检查昨夜的定时任务为何没有备份：forecourt backup --to FOLDER --keep 14。',
    },
  },
  backupMissing: {
    check: 'backup',
    en: 'No backup has been taken yet.',
    zh: '从未备份过。',
    todo: {
      en: 'Schedule a nightly backup: forecourt backup --to FOLDER --keep 14.',
      zh: '请用定时任务每晚备份：forecourt backup --to FOLDER --keep 14。',
    },
  },
  backupNone: {
    check: 'backup',
    en: 'No backup has been taken with forecourt backup. Make sure another program takes backups.',
    zh: '未曾用 forecourt backup 备份过，请确认有其他程序在备份。',
  },
  callbacks: {
    check: 'callbacks',
    en: 'Callbacks are sent to {{count}} {{count:application|applications}}.',
    zh: '正在向 {{count}} 个应用发送回调。',
  },
  callbacksDead: {
    check: 'callbacks',
    en: 'Failed deliveries: {{count}}.',
    zh: '失败的投递：{{count}}。',
    todo: { en: 'Replay them when the receivers respond again.', zh: '接收方恢复后请重新投递。' },
  },
  callbacksFailing: {
    check: 'callbacks',
    en: 'Paused endpoints: {{held}}; disabled by 410: {{stopped}}.',
    zh: '连续失败而暂缓投递的接收方：{{held}}；因 410 停止的：{{stopped}}。',
    todo: {
      en: 'Check the failed deliveries and ask the integrators to fix their receivers.',
      zh: '查看回调投递，请应用方修复接收端。',
    },
  },
  callbacksLate: {
    check: 'callbacks',
    en: 'Events have waited {{seconds}} s for their first delivery attempt.',
    zh: '有事件已等待首次投递 {{seconds}} 秒。',
    todo: {
      en: 'Check that the service is running, and check its log for callback errors.',
      zh: '请确认服务正在运行，并在日志中查看回调错误。',
    },
  },
  callbacksPaused: {
    check: 'callbacks',
    en: 'Callbacks are paused for the whole service, by its settings or after a restore.',
    zh: '回调已暂停（由配置设定，或恢复备份后尚未继续）。',
    todo: {
      en: 'If this isn’t a copy of a database that is still in use, run forecourt callbacks resume.',
      zh: '确认本库不是仍在发送回调的数据库的副本后，执行 forecourt callbacks resume。',
    },
  },
  certificate: {
    check: 'certificate',
    en: 'The certificate for {{host}} is valid until {{endsAt}}.',
    zh: '{{host}} 的证书有效期至 {{endsAt}}。',
  },
  certificateEnded: {
    check: 'certificate',
    en: 'The certificate for {{host}} expired on {{endsAt}}.',
    zh: '{{host}} 的证书已于 {{endsAt}} 到期。',
    todo: { en: 'Renew it at the proxy, and reload the proxy.', zh: '请在代理上更新证书并重新加载。' },
  },
  certificateEnds: {
    check: 'certificate',
    en: 'The certificate for {{host}} expires in {{days}} {{days:day|days}}.',
    zh: '{{host}} 的证书将在 {{days}} 天后到期。',
    todo: { en: 'Renew it at the proxy, and reload the proxy.', zh: '请在代理上更新证书并重新加载。' },
  },
  certificateUnknown: {
    check: 'certificate',
    en: 'The certificate for {{host}} can’t be checked from here.',
    zh: '无法从本机看到 {{host}} 的证书。',
  },
  clock: {
    check: 'clock',
    en: 'This machine’s clock and the database clock agree.',
    zh: '本机与数据库的时钟一致。',
  },
  clockAhead: {
    check: 'clock',
    en: 'The database’s clock is {{seconds}} s ahead of this machine’s.',
    zh: '数据库的时钟比本机快 {{seconds}} 秒。',
    todo: { en: 'Synchronize both clocks with NTP.', zh: '请用 NTP 校准两边的时钟。' },
  },
  clockBehind: {
    check: 'clock',
    en: 'The database’s clock is {{seconds}} s behind this machine’s.',
    zh: '数据库的时钟比本机慢 {{seconds}} 秒。',
    todo: { en: 'Synchronize both clocks with NTP.', zh: '请用 NTP 校准两边的时钟。' },
  },
  connections: {
    check: 'connections',
    en: 'Database connections: {{inUse}} of {{limit}} in use, {{needed}} needed.',
    zh: '数据库连接：已用 {{inUse}}，上限 {{limit}}，需要 {{needed}}。',
  },
  connectionsFew: {
    check: 'connections',
    en: 'Too few database connections: the limit is {{limit}}, but {{needed}} are needed.',
    zh: '数据库连接不足：上限 {{limit}}，需要 {{needed}}。',
    todo: {
      en: 'Raise max_connections, or the connection limit of the user or database.',
      zh: '请调高 max_connections，或用户、数据库的连接上限。',
    },
  },
  database: {
    check: 'database',
    en: 'PostgreSQL {{version}} responds in {{roundTripMs}} ms.',
    zh: 'PostgreSQL {{version}}，响应时间 {{roundTripMs}} 毫秒。',
  },
  disk: {
    check: 'disk',
    en: '{{freeBytes}} of {{sizeBytes}} are free on the database’s disk.',
    zh: '数据库磁盘剩余 {{freeBytes}}，共 {{sizeBytes}}。',
  },
  diskElsewhere: {
    check: 'disk',
    en: 'The database runs on another machine. Monitor its disk there.',
    zh: '数据库在别处运行，其磁盘请在那里监控。',
  },
  diskFull: {
    check: 'disk',
    en: 'The database disk is almost full: {{freeBytes}} of {{sizeBytes}} free.',
    zh: '数据库磁盘即将写满：剩余 {{freeBytes}}，共 {{sizeBytes}}。',
    todo: {
      en: 'Free up space now. Below {{boundBytes}}, the database may soon stop accepting writes.',
      zh: '请立即腾出空间：低于 {{boundBytes}} 时数据库很快将无法写入。',
    },
  },
  diskFullSoon: {
    check: 'disk',
    en: 'The database disk will be full in {{days}} {{days:day|days}}: {{freeBytes}} of {{sizeBytes}} free.',
    zh: '数据库磁盘将在 {{days}} 天后写满：剩余 {{freeBytes}}，共 {{sizeBytes}}。',
    todo: { en: 'Free up space, or keep events for fewer days.', zh: '请腾出空间，或缩短事件的保留天数。' },
  },
  diskLittle: {
    check: 'disk',
    en: 'The database disk is low on space: {{freeBytes}} of {{sizeBytes}} free.',
    zh: '数据库磁盘空间不多：剩余 {{freeBytes}}，共 {{sizeBytes}}。',
    todo: { en: 'Free up space. At least {{boundBytes}} should be free.', zh: '请腾出空间：至少应有 {{boundBytes}}。' },
  },
  durability: {
    check: 'durability',
    en: 'Acknowledged writes are on the disk (synchronous_commit = {{synchronousCommit}}).',
    zh: '已确认的写入都已落盘（synchronous_commit = {{synchronousCommit}}）。',
  },
  durabilityOff: {
    check: 'durability',
    en: 'Acknowledged writes can be lost: {{settings}} is off.',
    zh: '已确认的写入可能丢失：{{settings}} 已关闭。',
    todo: {
      en: 'Turn it on in postgresql.conf and reload the server.',
      zh: '请在 postgresql.conf 中打开，并重新加载。',
    },
  },
  nodes: {
    check: 'nodes',
    en: 'All cluster nodes respond.',
    zh: '集群的所有节点都有响应。',
  },
  nodesUnfit: {
    check: 'nodes',
    en: 'A cluster node doesn’t respond or allows too few connections.',
    zh: '集群有节点无响应，或可用连接太少。',
    todo: { en: 'Run forecourt doctor to see which one.', zh: 'forecourt doctor 会指出是哪一个。' },
  },
  replication: {
    check: 'replication',
    en: 'Standbys: {{standbys}}. Commits wait for {{synchronous}} of them.',
    zh: '备库：{{standbys}} 个；提交等待其中 {{synchronous}} 个。',
  },
  replicationHidden: {
    check: 'replication',
    en: 'Standbys: {{standbys}}. The database user may not see which of them commits wait for.',
    zh: '备库：{{standbys}} 个；数据库用户无权查看提交等待哪些备库。',
  },
  replicationLost: {
    check: 'replication',
    en: 'Commits wait for a standby in “{{names}}”, but none is connected.',
    zh: '提交要等待备库“{{names}}”，但没有一个在线。',
    todo: {
      en: 'Start a standby, or remove it from synchronous_standby_names.',
      zh: '请启动备库，或将其从 synchronous_standby_names 中去掉。',
    },
  },
  replicationNone: {
    check: 'replication',
    en: 'No standby. Backups are the only other copy of the data.',
    zh: '没有备库：备份是唯一的另一份数据。',
  },
  vacuumOff: {
    check: 'vacuum',
    en: 'Autovacuum is off, so tables keep growing.',
    zh: '自动清理（autovacuum）已关闭，数据表会膨胀。',
    todo: { en: 'Set autovacuum = on in postgresql.conf.', zh: '请在 postgresql.conf 中设置 autovacuum = on。' },
  },
  workers: {
    check: 'workers',
    en: '{{serving}} {{serving:worker|workers}} running.',
    zh: '运行中的工作进程：{{serving}} 个。',
  },
  workersMissing: {
    check: 'workers',
    en: 'Only {{serving}} of {{wanted}} workers running.',
    zh: '应有 {{wanted}} 个进程提供服务，现有 {{serving}} 个。',
    todo: { en: 'Check the log to see why the others stopped.', zh: '请在日志中查看其他进程结束的原因。' },
  },
} satisfies Record<string, FindingWords>

export type FindingCode = keyof typeof findingWords

export const recordWords = {
  actFailed: {
    en: 'Bulk action {{id}} failed at {{since}}',
    zh: '批量操作 {{id}} 于 {{since}} 失败',
    withReason: {
      en: 'Bulk action {{id}} failed at {{since}}: {{reason}}',
      zh: '批量操作 {{id}} 于 {{since}} 失败：{{reason}}',
    },
  },
  callbackDead: {
    en: '{{count}} failed {{count:delivery|deliveries}}',
    zh: '失败的回调：{{count}}',
  },
  callbackFailing: {
    en: 'Nothing was delivered since {{since}}; attempts go on. {{reason}}',
    zh: '自 {{since}} 起每次投递都失败：{{reason}}',
  },
  callbackStopped: {
    en: 'Endpoint disabled since {{since}}: it responded with 410',
    zh: '自 {{since}} 起停止：接收方返回 410',
  },
  deviceFaulty: {
    en: '{{count}} faulty {{count:device|devices}}',
    zh: '故障设备：{{count}}',
  },
  importFailed: {
    en: 'Import {{id}} failed at {{since}}',
    zh: '导入 {{id}} 于 {{since}} 失败',
    withReason: {
      en: 'Import {{id}} failed at {{since}}: {{reason}}',
      zh: '导入 {{id}} 于 {{since}} 失败：{{reason}}',
    },
  },
  siteUnreachable: {
    en: 'No device online; {{count}} faulty',
    zh: '没有在线的设备；故障：{{count}}',
  },
} satisfies Record<string, Omit<FindingWords, 'check'>>

export type RecordCode = keyof typeof recordWords

/** Undefined for a code of another version. */
export function wordsOf(code: string): Omit<FindingWords, 'check'> | undefined {
  return ({ ...findingWords, ...recordWords } as Record<string, Omit<FindingWords, 'check'>>)[code]
}

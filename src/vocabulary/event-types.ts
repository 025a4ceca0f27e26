import type { Words } from './fill.ts'

interface EventWords extends Words {
  /** When the event is written, as a sentence without its period. */
  happens: Words
  /** The data is not the whole record of its noun: `webhooks` names it, and the console does not compare it. */
  hasOwnData?: true
}

/** The reference and both guides are made from this table. */
export const eventWords = {
  'site.created': { en: 'Site created', zh: '新建站点', happens: { en: 'A site was created', zh: '新建了站点' } },
  'site.updated': { en: 'Site updated', zh: '修改站点', happens: { en: 'A site was updated', zh: '修改了站点' } },
  'site.deleted': {
    en: 'Site deleted',
    zh: '删除站点',
    happens: { en: 'A site was deleted; the data is its last state', zh: '删除了站点；数据为删除前的记录' },
  },
  'device.bound': {
    en: 'Device bound',
    zh: '绑定设备',
    happens: { en: 'A device was created and bound to the application', zh: '新建了设备并绑定到应用' },
  },
  'device.updated': { en: 'Device updated', zh: '修改设备', happens: { en: 'A device was updated', zh: '修改了设备' } },
  'device.unbound': {
    en: 'Device unbound',
    zh: '解绑设备',
    happens: { en: 'A device was unbound; the data is its last state', zh: '设备已解绑；数据为解绑前的记录' },
  },
  'device.transferred': {
    en: 'Device transferred',
    zh: '转移设备',
    happens: {
      en: 'A platform operator transferred a device to another application; both applications get the event',
      zh: '运营方将设备从一个应用转移到另一个应用；双方均会收到',
    },
  },
  'device.stateChanged': {
    en: 'Device state changed',
    zh: '设备状态变化',
    happens: {
      en: 'A device reported a different state, or went offline because it stopped reporting',
      zh: '设备上报了不同的状态，或长时间没有上报',
    },
    hasOwnData: true,
  },
  'device.placed': {
    en: 'Device added to a site',
    zh: '安装设备',
    happens: {
      en: 'A device was added to a site, or its lane changed',
      zh: '设备安装到站点，或更改了通道',
    },
    hasOwnData: true,
  },
  'device.unplaced': {
    en: 'Device removed from a site',
    zh: '设备移出站点',
    happens: {
      en: 'A device left a site: it was removed, moved to another site, unbound or transferred, or the site was deleted',
      zh: '设备的安装已结束：移出、改到其他站点、解绑、转移，或站点被删除',
    },
    hasOwnData: true,
  },
  'billingRule.created': {
    en: 'Billing rule created',
    zh: '新建计费规则',
    happens: { en: 'A billing rule was created', zh: '新建了计费规则' },
  },
  'billingRule.updated': {
    en: 'Billing rule updated',
    zh: '修改计费规则',
    happens: { en: 'A billing rule was updated', zh: '修改了计费规则' },
  },
  'billingRule.deleted': {
    en: 'Billing rule deleted',
    zh: '删除计费规则',
    happens: {
      en: 'A billing rule was deleted; the data is its last state',
      zh: '删除了计费规则；数据为删除前的记录',
    },
  },
  'priceChange.scheduled': {
    en: 'Price change scheduled',
    zh: '安排调价',
    happens: {
      en: 'A price change was scheduled, or an earlier one was undone',
      zh: '安排了自某一时刻起的价格，或恢复了先前的价格',
    },
  },
  'priceChange.cancelled': {
    en: 'Price change cancelled',
    zh: '取消调价',
    happens: {
      en: 'A scheduled price change was cancelled, directly or because its billing rule was deleted',
      zh: '调价在生效之前被取消，或随计费规则一并取消',
    },
  },
  'priceChange.applied': {
    en: 'Price change applied',
    zh: '调价生效',
    happens: {
      en: 'A price change took effect; the events of its billing rule or of all its sites were written first',
      zh: '调价已生效；该规则的事件，或所更改的全部站点的事件，已在此前写入',
    },
  },
  'application.online': {
    en: 'Application brought online',
    zh: '应用上线',
    happens: { en: 'A platform operator brought the application online', zh: '运营方将应用上线' },
  },
  'application.offline': {
    en: 'Application taken offline',
    zh: '应用下线',
    happens: {
      en: 'A platform operator took the application offline; it can’t create devices',
      zh: '运营方将应用下线：不再接受新设备',
    },
  },
  'application.frozen': {
    en: 'Application frozen',
    zh: '冻结应用',
    happens: { en: 'A platform operator froze the application', zh: '运营方冻结了应用' },
  },
  'application.unfrozen': {
    en: 'Application unfrozen',
    zh: '解冻应用',
    happens: { en: 'A platform operator unfroze the application', zh: '运营方解冻了应用' },
  },
  'thirdPartyConfig.saved': {
    en: 'Third-party configuration saved',
    zh: '保存第三方配置',
    happens: { en: 'The third-party configuration was saved', zh: '保存了第三方配置' },
  },
} as const satisfies Record<string, EventWords>

export type EventType = keyof typeof eventWords
export const eventTypes = Object.keys(eventWords) as EventType[]

export type OwnDataType = {
  [Type in EventType]: (typeof eventWords)[Type] extends { hasOwnData: true } ? Type : never
}[EventType]

export const hasOwnData = (type: string): boolean => wordsOf(type)?.hasOwnData === true

/** Undefined for an unknown or a platform type. */
export const happeningOf = (type: string): Words | undefined => wordsOf(type)?.happens

const wordsOf = (type: string): EventWords | undefined =>
  Object.hasOwn(eventWords, type) ? eventWords[type as EventType] : undefined

interface PlatformEventWords extends Words {
  /** Where the event names its application. */
  application?: 'subject' | 'data'
}

/** In no application's log: only operators see them, no callback has them. */
export const platformEventWords = {
  'application.created': { en: 'Application created', zh: '新建应用', application: 'subject' },
  'application.updated': { en: 'Application updated', zh: '修改应用', application: 'subject' },
  'application.secretRotated': { en: 'Application secret rotated', zh: '轮换应用密钥', application: 'subject' },
  'application.previousSecretEnded': {
    en: 'Old application secret ended',
    zh: '停用应用旧密钥',
    application: 'subject',
  },
  'deviceModel.saved': { en: 'Device model saved', zh: '保存设备型号' },
  'deviceModel.deleted': { en: 'Device model deleted', zh: '删除设备型号' },
  'region.saved': { en: 'Region saved', zh: '保存行政区划' },
  'region.deleted': { en: 'Saved region deleted', zh: '删除已保存的行政区划' },
  'deviceInventory.imported': { en: 'Inventory imported', zh: '导入库存' },
  'deviceInventory.deleted': { en: 'Inventory entry deleted', zh: '删除库存条目' },
  'operator.created': { en: 'Account created', zh: '新建账号' },
  'operator.updated': { en: 'Account updated', zh: '修改账号' },
  'operator.deleted': { en: 'Account deleted', zh: '删除账号' },
  'operator.reset': { en: 'Account reset', zh: '重置账号' },
  'operator.setUp': { en: 'Account set up', zh: '设置账号' },
  'operator.passwordChanged': { en: 'Password changed', zh: '修改密码' },
  'operatorKey.created': { en: 'Operator key created', zh: '新建运营密钥' },
  'operatorKey.deleted': { en: 'Operator key revoked', zh: '吊销运营密钥' },
  'operatorKey.handedOver': { en: 'Operator key reassigned', zh: '移交运营密钥' },
  'view.handedOver': { en: 'Saved views reassigned', zh: '移交已存视图' },
  'session.created': { en: 'Signed in', zh: '登录' },
  'session.refused': { en: 'Sign-in refused', zh: '登录被拒绝' },
  'session.locked': { en: 'Sign-in locked', zh: '登录已锁定' },
  'session.ended': { en: 'Session ended', zh: '会话结束' },
  'secondFactor.added': { en: 'Second factor set up', zh: '设置第二验证因素' },
  'secondFactor.removed': { en: 'Second factor removed', zh: '移除第二验证因素' },
  'secondFactor.reset': { en: 'Second factors reset', zh: '重置第二验证因素' },
  'secondFactor.recoveryCodeUsed': { en: 'Recovery code used', zh: '使用恢复码' },
  'secondFactor.suspected': { en: 'Possible passkey copy detected', zh: '通行密钥疑似被复制' },
  'thirdPartyConfig.secretRotated': { en: 'Callback secret rotated', zh: '轮换回调密钥', application: 'subject' },
  'delivery.replayed': { en: 'Deliveries replayed', zh: '重新投递', application: 'subject' },
  'delivery.tested': { en: 'Callback tested', zh: '测试回调', application: 'subject' },
  'site.erased': {
    en: 'Personal data of deleted sites erased',
    zh: '清除已删除站点的个人信息',
    application: 'subject',
  },
  'import.created': { en: 'Import started', zh: '开始导入', application: 'data' },
  'import.cancelled': { en: 'Import cancelled', zh: '取消导入', application: 'data' },
  'act.created': { en: 'Bulk action started', zh: '开始批量操作', application: 'data' },
  'act.cancelled': { en: 'Bulk action cancelled', zh: '取消批量操作', application: 'data' },
} as const satisfies Record<string, PlatformEventWords>

export type PlatformEventType = keyof typeof platformEventWords
export const platformEventTypes = Object.keys(platformEventWords) as PlatformEventType[]

export const platformTypesNaming = (place: 'subject' | 'data') =>
  platformEventTypes.filter((type) => {
    const words: PlatformEventWords = platformEventWords[type]
    return words.application === place
  })
